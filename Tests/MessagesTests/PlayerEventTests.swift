import Ledger
import RewardModel
import StorageCore
import Testing
import TreeDatabase
import TreeModel

@testable import Messages

/// What happens to players beside plain rewards: each told once, and only where a campaign waits for it.
@Suite struct PlayerEventTests {
  private static let unit = Currency.piecesOfEight.unit

  /// Publishes a campaign for each of these events of the server.
  private func publish(_ names: String..., on game: MessageFixture) async throws {
    for name in names {
      try await game.publish([
        "id": .string(name), "triggers": .array([["server": .string(name)]]), "frequency": ["lifetime": 100],
      ])
    }
  }

  private func hold(_ game: MessageFixture, key: String) async throws -> LedgerEntry {
    let order = HoldOrder(
      from: .issuance("level5"), owner: "bob", amount: 50, unit: Self.unit, key: BusinessKey(key), reason: "unconfirmed")
    let namespace = try await game.database.openNamespace(named: "game")
    return try await game.ledger.hold(order, in: namespace, by: .system("test")).entry
  }

  private func names(_ game: MessageFixture, of uid: String = "bob") throws -> [String] {
    try game.messages.events(of: uid).map(\.name).sorted()
  }

  @Test("nothing is told of a uid that no key of the tree can be: it would stand among what another player is told")
  func slashes() async throws {
    try await MessageFixture.run { (game) async throws in
      try await publish("referral_claimed", on: game)
      let namespace = try await game.database.openNamespace(named: "game")
      for uid in ["steam/7", "steam"] {
        let claim: JSON = ["player": .string(uid), "inviter": "ann"]
        var request = CommitRequest(namespace: namespace, actor: .system("test"))
        request.rows.records = [
          KeyedRecordChange(kind: "link_claim", key: "player/\(uid)", value: claim.compactText, expecting: .absent)
        ]
        _ = try await game.database.commit(request)
        #expect(try names(game, of: "steam") == (uid == "steam" ? ["referral_claimed"] : []))
      }
    }
  }

  @Test("a reward that is held, and its release, are told once; what was said of a hold that has ended is not said any more")
  func holds() async throws {
    try await MessageFixture.run { (game) async throws in
      try await publish("reward", "reward_held", "reward_released", on: game)
      let namespace = try await game.database.openNamespace(named: "game")
      var held: [LedgerEntry] = []
      for _ in 0..<2 { held.append(try await hold(game, key: "signup/bob")) }
      #expect(held[0] == held[1])
      let event = try #require(try game.messages.events(of: "bob").first)
      #expect(try names(game) == ["reward_held"])
      #expect(event.parameters.first { $0.key == "amount" }?.value == 50)
      #expect(event.parameters.first { $0.key == "reason" }?.value == "unconfirmed")
      for _ in 0..<2 {
        _ = try await game.ledger.release(
          held[0].sequence, to: LedgerAccount("user:bob"), in: namespace, by: MessageFixture.admin)
      }
      #expect(try names(game) == ["reward", "reward_released"])
      #expect(try await game.ids(uid: "bob").sorted() == ["reward", "reward_released"])
    }
  }

  @Test("a hold that is given back takes along what was not shown of it, and leaves what was")
  func voided() async throws {
    try await MessageFixture.run { (game) async throws in
      try await publish("reward_held", on: game)
      let namespace = try await game.database.openNamespace(named: "game")
      let (shown, waiting) = (try await hold(game, key: "a"), try await hold(game, key: "b"))
      _ = try await game.ids(uid: "bob")
      try await game.show("reward_held", event: "reward_held-\(shown.sequence)")
      for entry in [shown, waiting] {
        _ = try await game.ledger.void(entry.sequence, in: namespace, by: MessageFixture.admin)
      }
      #expect(try game.messages.events(of: "bob").map(\.id) == ["reward_held-\(shown.sequence)"])
      #expect(try await game.ids(uid: "bob") == [])
    }
  }

  @Test("a reversal is an event of its own, with what was taken and why, and only where a campaign waits for it")
  func reversed() async throws {
    try await MessageFixture.run { (game) async throws in
      try await publish("reward", on: game)
      let namespace = try await game.database.openNamespace(named: "game")
      func payAndReverse(_ key: String) async throws {
        let entry = try await game.pay("bob", 50, key: key)
        _ = try await game.ledger.reverse(entry.sequence, in: namespace, by: MessageFixture.admin, reason: "fraud")
      }
      try await payAndReverse("a")
      #expect(try names(game) == [])
      try await publish("reward_reversed", on: game)
      try await payAndReverse("b")
      #expect(try names(game) == ["reward_reversed"])
      let event = try #require(try game.messages.events(of: "bob").first)
      #expect(event.parameters.first { $0.key == "amount" }?.value == 50)
      #expect(event.parameters.first { $0.key == "reason" }?.value == "fraud")
    }
  }

  @Test("an invitation is opened for the first time once, however long ago that was; without a campaign nothing is kept")
  func invitations() async throws {
    try await MessageFixture.run { (game) async throws in
      let namespace = try await game.database.openNamespace(named: "game")
      func put(_ kind: String, _ key: String, _ value: JSON) async throws {
        var request = CommitRequest(namespace: namespace, actor: .system("links"))
        request.rows.records = [KeyedRecordChange(kind: kind, key: key, value: value.compactText)]
        _ = try await game.database.commit(request)
      }
      for id in ["i1", "i2"] { try await put("invite", id, ["id": .string(id), "channel": "share", "sender": "alice"]) }
      try await put("invite_mark", "i1/opened", ["at": 1])
      #expect(try names(game, of: "alice") == [])
      try await publish("invite_opened", "invite_converted", on: game)
      for _ in 0..<2 {
        for mark in ["i1/opened", "i2/opened", "i2/clicked", "i2/converted"] { try await put("invite_mark", mark, ["at": 2]) }
      }
      #expect(try names(game, of: "alice") == ["invite_converted", "invite_opened"])
      let opened = try #require(try game.messages.events(of: "alice").first { $0.name == "invite_opened" })
      #expect(opened.parameters.map(\.value) == ["i2", "share"])
      game.clock.advance(by: 31 * MessageFixture.day)
      try await game.messages.prune()
      #expect(try names(game, of: "alice") == [])
      try await put("invite_mark", "i2/opened", ["at": 3])
      #expect(try names(game, of: "alice") == [])
    }
  }

  @Test("what a function says of an event is said once, also where the event is replayed months later")
  func replays() async throws {
    try await MessageFixture.run { (game) async throws in
      try await publish("level_up", on: game)
      let namespace = try await game.database.openNamespace(named: "game")
      func run() async throws {
        var request = CommitRequest(namespace: namespace, actor: .function("levels"))
        request.rows.playerEvents = [PlayerEvent(uid: "bob", name: "level_up", parameters: [], once: "event-7/levels")]
        _ = try await game.database.commit(request)
      }
      for _ in 0..<3 { try await run() }
      #expect(try await game.ids(uid: "bob") == ["level_up"])
      try await game.show("level_up")
      game.clock.advance(by: 60 * MessageFixture.day)
      try await game.messages.prune()
      try await run()
      #expect(try await game.ids(uid: "bob") == [])
    }
  }

  @Test("however much a player was told, what waits is found")
  func many() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["triggers": [["server": "dug"]], "frequency": ["lifetime": 1000]])
      _ = try await game.ids(uid: "bob")
      let namespace = try await game.database.openNamespace(named: "game")
      var request = CommitRequest(namespace: namespace, actor: .function("dig"))
      request.rows.playerEvents = (0..<260).map { PlayerEvent(uid: "bob", name: "dug", parameters: [], once: "\($0)") }
      _ = try await game.database.commit(request)
      try game.messages.countPending()
      #expect(game.messages.totals.pending == 260)
      let events = try game.messages.events(of: "bob")
      let last = try #require(events.last)
      let reports = events.dropLast().map { event in
        var report = MessageReport(.impression, campaign: "hello", instance: MessageFixture.instance, time: game.clock.now())
        report.event = event.id
        return report
      }
      #expect(try await game.messages.take(reports) == 259)
      #expect(try await game.fetch(uid: "bob").pending.map(\.id) == [last.id])
      try game.messages.countPending()
      #expect(game.messages.totals.pending == 1)
    }
  }

  private func commit(_ records: [KeyedRecordChange], on game: MessageFixture) async throws {
    let namespace = try await game.database.openNamespace(named: "game")
    var request = CommitRequest(namespace: namespace, actor: MessageFixture.admin)
    request.rows.records = records
    _ = try await game.database.commit(request)
  }

  @Test("of a player's devices twenty are known: one more makes the oldest nobody's, and nothing names a player who left")
  func manyDevices() async throws {
    try await MessageFixture.run { (game) async throws in
      let namespace = try await game.database.openNamespace(named: "game")
      let devices = (100..<122).map { "cBBBBBBBBBBBBBBBBBB\($0)" }
      for device in devices { _ = try await game.ids(uid: "bob", instance: device) }
      func owner(_ number: Int) throws -> String? { try game.messages.instance(devices[number])?.uid }
      #expect(try owner(0) == nil && owner(1) == nil && owner(2) == "bob")
      _ = try await game.ids(uid: "bob", instance: devices[0])
      #expect(try owner(0) == "bob" && owner(2) == nil, "it is back with its next fetch")
      let erasure = try game.database.engine.read { snapshot in
        try game.messages.erasure(of: "bob", addresses: [], in: namespace, snapshot: snapshot)
      }
      try await commit(erasure.records, on: game)
      #expect(try game.messages.devices(of: nil, limit: 50).map(\.uid) == [nil, nil])
    }
  }

  @Test("of the devices of two accounts that become one the newest are known, and none names the one that is gone")
  func manyMergedDevices() async throws {
    try await MessageFixture.run { (game) async throws in
      let namespace = try await game.database.openNamespace(named: "game")
      for number in 100..<112 {
        for (uid, letter) in [("guest", "B"), ("bob", "C")] {
          _ = try await game.ids(uid: uid, instance: "cAAAAAAAAAAAAAAAAA\(letter)\(number)")
        }
      }
      let moves = try game.database.engine.read { snapshot in
        try game.messages.moves(of: "guest", to: "bob", in: namespace, snapshot: snapshot)
      }
      try await commit(moves, on: game)
      let owners = try game.messages.devices(of: nil, limit: 50).map(\.uid)
      #expect(owners.count { $0 == "bob" } == 20 && owners.count { $0 == nil } == 4)
      #expect(try game.messages.devices(of: "bob", limit: 50).count == 20)
      #expect(try game.messages.instance("cAAAAAAAAAAAAAAAAAB100")?.uid == nil)
      #expect(try game.messages.instance("cAAAAAAAAAAAAAAAAAB111")?.uid == "bob")
    }
  }

  @Test("what waits for an account that is merged goes along, with the player's devices; what the other has stays")
  func merging() async throws {
    try await MessageFixture.run { (game) async throws in
      try await publish("reward", on: game)
      try await game.publish(["id": "daily", "frequency": ["lifetime": 1, "per": "player"]])
      let (phone, tablet) = (MessageFixture.instance, "cBBBBBBBBBBBBBBBBBBBBB")
      _ = try await game.ids(uid: "guest", instance: phone)
      _ = try await game.ids(uid: "bob", instance: tablet)
      try await game.show("daily", instance: phone)
      try await game.pay("guest", 50, key: "a")
      try await game.pay("guest", 60, key: "b")
      try await game.pay("bob", 70, key: "c")
      try await game.show("reward", instance: phone, event: "reward-1")
      let namespace = try await game.database.openNamespace(named: "game")
      var request = CommitRequest(namespace: namespace, actor: MessageFixture.admin)
      request.rows.records = try game.database.engine.read { snapshot in
        try game.messages.moves(of: "guest", to: "bob", in: namespace, snapshot: snapshot)
      }
      _ = try await game.database.commit(request)
      #expect(try names(game, of: "guest") == [])
      let events = try game.messages.events(of: "bob")
      #expect(events.map(\.id) == ["reward-1", "reward-2", "reward-3"] && events.allSatisfy { $0.uid == "bob" })
      #expect(events.map { $0.shownAt == nil } == [false, true, true])
      #expect(Set(try game.messages.devices(of: "bob", limit: 10).map(\.id)) == [phone, tablet])
      #expect(try game.messages.devices(of: "guest", limit: 10).isEmpty)
      // Seen as a guest is seen; and the rewards of both are told on the one device.
      #expect(try await game.ids(uid: "bob", instance: tablet) == ["reward"])
      await #expect(throws: CommitError.self, "what changed meanwhile is looked at again") {
        _ = try await game.database.commit(request)
      }
    }
  }
}
