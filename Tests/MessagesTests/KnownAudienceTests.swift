import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import Messages

/// Conditions on what the server itself knows of an installation and of an account; shares and variants over many installations.
@Suite struct KnownAudienceTests {
  /// Accounts as the accounts' service stores them.
  private func create(_ accounts: [AccountRecord], on game: MessageFixture) async throws {
    let namespace = try await game.database.openNamespace(named: "game")
    var request = CommitRequest(namespace: namespace, actor: MessageFixture.admin)
    request.decision = RecordDecision { session, namespace, _ throws(StorageError) in
      for account in accounts { session.put(.account(account), in: namespace) }
    }
    _ = try await game.database.commit(request)
  }

  @Test("how long an installation is known, and how often its app was started, let it in and keep it out")
  func installations() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["id": "fresh", "audience": ["instance": ["firstSeen": ["days": ["<": 7]]]]])
      try await game.publish(["id": "loyal", "audience": ["instance": ["sessions": [">=": 3]]]])
      let (old, new) = (MessageFixture.instance(1), MessageFixture.instance(2))
      #expect(try await game.ids(instance: old) == ["fresh"])
      game.clock.advance(by: 60_000)
      #expect(try await game.ids(instance: old) == ["fresh"], "a minute later it is the same visit")
      game.clock.advance(by: 7 * MessageFixture.day - 60_001)
      #expect(try await game.ids(instance: old) == ["fresh"], "six days and the most of a seventh: the second visit")
      game.clock.advance(by: 1_800_000)
      #expect(try await game.ids(instance: old) == ["loyal"], "seven days, and the third visit")
      #expect(try await game.ids(instance: new) == ["fresh"])
    }
  }

  @Test(
    "whether an account is anonymous, and how old it is, let its player in and keep others out; who has no account is neither",
    arguments: [
      (["anonymous": true], ["guest"]), (["anonymous": false], ["member"]), (["createdDays": [">=": 7]], ["member"]),
      (["createdDays": ["<": 7]], ["guest"]), (["createdDays": ["<": 7], "anonymous": false], []),
    ] as [(JSON, [String])])
  func accounts(_ player: JSON, meant: [String]) async throws {
    try await MessageFixture.run { (game) async throws in
      let guest = AccountRecord(uid: "guest", createdAt: MessageFixture.start - 6 * MessageFixture.day)
      var member = AccountRecord(uid: "member", createdAt: MessageFixture.start - 7 * MessageFixture.day)
      (member.email, member.password) = ("member@acme.test", "a hash")
      try await create([guest, member], on: game)
      try await game.publish(["audience": ["player": player]])
      for uid in ["guest", "member", "nobody"] {
        #expect(try await game.ids(uid: uid) == (meant.contains(uid) ? ["hello"] : []), "\(uid)")
      }
      #expect(try await game.ids() == [])
    }
  }

  @Test("thirty percent of ten thousand installations are thirty percent of them, and the same ones at every fetch")
  func share() async throws {
    let chosen = (0..<10_000).filter { number in
      MessageJudgement.share("hello", for: MessageFixture.instance(number), of: 10_000) < 3000
    }
    #expect((2850...3150).contains(chosen.count), "\(chosen.count) of 10,000")
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["audience": ["percent": 30]])
      let meant = Set(chosen)
      for _ in 0..<2 {
        for number in 0..<40 {
          let isMeant = try await game.ids(instance: MessageFixture.instance(number)) == ["hello"]
          #expect(isMeant == meant.contains(number), "\(number)")
        }
      }
    }
  }

  @Test("of ten thousand installations each variant has its weight within three percent")
  func weights() throws {
    var document = CampaignDocument(source: [:])
    let weights = ["a": 20, "b": 30, "c": 50]
    document.variants = weights.sorted { $0.key < $1.key }.map { name, weight in
      MessageVariant(name: name, weight: weight, isControl: false, content: MessageContent())
    }
    var counts: [String: Int] = [:]
    for number in 0..<10_000 {
      let name = try #require(document.variant(for: MessageFixture.instance(number), "hello"))
      counts[name, default: 0] += 1
    }
    for (name, weight) in weights {
      #expect(abs((counts[name] ?? 0) - weight * 100) <= 300, "\(counts)")
    }
  }

  @Test("an installation keeps its variant in another language, at the next fetch, and after the program was started again")
  func kept() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["variants": [["name": "a", "weight": 50], ["name": "b", "weight": 50]]])
      func variants(_ messages: MessageService, language: String) async throws -> [String?] {
        var found: [String?] = []
        for number in 0..<20 {
          var client = MessageClient(instance: MessageFixture.instance(number))
          (client.language, client.isOwn) = (language, true)
          found.append(try await messages.serve(client) { _ in true }.messages.first?.variant)
        }
        return found
      }
      let first = try await variants(game.messages, language: "en")
      #expect(Set(first) == ["a", "b"])
      game.clock.advance(by: MessageFixture.day)
      #expect(try await variants(game.messages, language: "pl") == first)
      var options = MessageOptions()
      options.isDevelopment = true
      let later = try MessageService(
        engine: game.database.engine, writer: game.database, home: MessageFixture.TestNamespace(database: game.database),
        clock: game.clock, random: SplitMix64(seed: 8), surroundings: CampaignSurroundings(zones: MessageFixture.zones),
        hub: MessageHub(waiting: WaitingCampaigns()), options: options)
      #expect(try await variants(later, language: "en") == first)
    }
  }
}
