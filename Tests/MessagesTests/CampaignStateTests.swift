import StorageCore
import Testing
import TreeDatabase
import TreeModel

@testable import Messages

/// The life of campaigns.
@Suite struct CampaignStateTests {
  static let admin = MessageFixture.admin

  @Test("a campaign is published and stopped once, and a deleted id never comes again")
  func life() async throws {
    try await MessageFixture.run { (game) async throws in
      let messages = game.messages
      let published = try await game.publish()
      #expect(published.state == .published && published.publishedAt == MessageFixture.start && published.version == 2)
      await #expect(throws: MessageError.self) { _ = try await messages.publish("hello", by: Self.admin) }
      #expect(try await messages.stop("hello", by: Self.admin).state == .stopped)
      await #expect(throws: MessageError.self) { _ = try await messages.publish("hello", by: Self.admin) }
      #expect(try await messages.delete("hello", by: Self.admin).state == .deleted)
      #expect(try messages.campaigns().isEmpty)
      await #expect(throws: MessageError.self) {
        _ = try await messages.create(MessageFixture.document(), by: Self.admin)
      }
      #expect(try messages.versions(of: "hello").map(\.action) == ["delete", "stop", "publish", "create"])
      #expect(try messages.versions(of: "hello").allSatisfy { $0.by == "admin:test" })
    }
  }

  @Test("a published campaign keeps what it says: only test devices change, and the end may come nearer")
  func published() async throws {
    try await MessageFixture.run { (game) async throws in
      let end: JSON = ["end": "2024-01-10T00:00"]
      try await game.publish(["schedule": end])
      func replace(_ changes: JSON) async throws -> Campaign {
        try await game.messages.replace(
          "hello", with: MessageFixture.document(changes), ifVersion: nil, by: Self.admin)
      }
      await #expect(throws: MessageError.self) { _ = try await replace(["schedule": end, "name": "Other"]) }
      await #expect(throws: MessageError.self) { _ = try await replace(["schedule": ["end": "2024-01-11T00:00"]]) }
      await #expect(throws: MessageError.self) { _ = try await replace([:]) }
      _ = try await replace(["schedule": end, "testDevices": ["cRk2AAAAAAAAAAAAAAAAAA"]])
      #expect(try await replace(["schedule": ["end": "2024-01-09T00:00"]]).version == 4)
    }
  }

  @Test("of two editors the second is told that the first was there")
  func editors() async throws {
    try await MessageFixture.run { (game) async throws in
      let before = try await game.messages.create(MessageFixture.document(), by: Self.admin)
      let other = MessageFixture.document(["name": "Other"])
      _ = try await game.messages.replace("hello", with: other, ifVersion: before.version, by: Self.admin)
      await #expect(throws: MessageError.self) {
        _ = try await game.messages.replace("hello", with: other, ifVersion: before.version, by: Self.admin)
      }
    }
  }

  @Test("of steps that look at the same version one is done, however many come at once")
  func steps() async throws {
    try await MessageFixture.run { (game) async throws in
      let messages = game.messages
      func race(_ steps: [@Sendable (MessageService) async throws -> Campaign]) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
          for step in steps + steps + steps {
            group.addTask { (try? await step(messages)) != nil }
          }
          return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
      }
      _ = try await messages.create(MessageFixture.document(), by: Self.admin)
      #expect(await race([{ try await $0.publish("hello", ifVersion: 1, by: Self.admin) }]) == 1)
      #expect(
        await race([
          { try await $0.stop("hello", ifVersion: 2, by: Self.admin) },
          { try await $0.delete("hello", ifVersion: 2, by: Self.admin) },
        ]) == 1)
      #expect(try messages.campaign("hello").version == 3 && messages.versions(of: "hello").count == 3)
      let isOffered = try await game.ids() == ["hello"]
      #expect(!isOffered, "it is stopped or deleted")
    }
  }

  @Test("a file is applied once: the second time there is nothing to do, and pruning stops what is not in it")
  func files() async throws {
    try await MessageFixture.run { (game) async throws in
      var document = MessageFixture.document().object ?? []
      document.append(JSON.Member(key: "publish", value: true))
      let file: JSON = ["campaigns": .array([.object(document)])]
      func apply(_ file: JSON, prunes: Bool = false, isRehearsal: Bool = false) async throws -> [String] {
        try await game.messages.apply(file, prunes: prunes, isRehearsal: isRehearsal, by: Self.admin).map(\.action.rawValue)
      }
      #expect(try await apply(file, isRehearsal: true) == ["create", "publish"])
      #expect(try game.messages.campaigns().isEmpty)
      #expect(try await apply(file) == ["create", "publish"])
      #expect(try await apply(file) == ["none"])
      let other: JSON = ["campaigns": .array([MessageFixture.document(["name": "Other"])])]
      #expect(try await apply(other) == ["conflict"])
      #expect(try await apply(["campaigns": []], prunes: true) == ["stop"])
      #expect(try game.messages.campaign("hello").state == .stopped)
      let bad: JSON = ["campaigns": .array([MessageFixture.document(["id": "fine"]), ["id": "bad"]])]
      await #expect(throws: MessageError.self) { _ = try await apply(bad) }
      #expect(try game.messages.campaigns().map(\.id) == ["hello"], "nothing of a bad file is applied")
    }
  }

  @Test("what pruning stops keeps its counts; the same file again finds nothing to do, and brings nothing back")
  func pruned() async throws {
    try await MessageFixture.run { (game) async throws in
      var document = MessageFixture.document().object ?? []
      document.append(JSON.Member(key: "publish", value: true))
      let file: JSON = ["campaigns": .array([.object(document)])]
      func apply(_ file: JSON) async throws -> [String] {
        try await game.messages.apply(file, prunes: true, isRehearsal: false, by: Self.admin).map(\.action.rawValue)
      }
      _ = try await apply(file)
      _ = try await game.ids()
      #expect(try await game.show() == 1)
      #expect(try await apply(["campaigns": []]) == ["stop"])
      #expect(try await apply(["campaigns": []]) == [])
      #expect(try await apply(file) == ["none"])
      #expect(try game.messages.campaign("hello").state == .stopped)
      let totals = try await game.messages.results(of: "hello", days: 1)["totals"]?.array ?? []
      let counts = totals.map { "\($0["kind"]?.string ?? "") \($0["count"]?.int ?? 0)" }
      #expect(counts.sorted() == ["impression 1", "instance 1", "served 1"])
    }
  }

  @Test("without a word in the settings two hundred campaigns are published, and not one more")
  func standardLimit() async throws {
    try await MessageFixture.run { (game) async throws in
      let namespace = try await game.database.openNamespace(named: "game")
      var request = CommitRequest(namespace: namespace, actor: Self.admin)
      request.rows.records = try (0..<199).map { number in
        let (document, _) = CampaignDocument.read(
          MessageFixture.document(["id": .string("c\(number)")]), in: game.messages.surroundings)
        let campaign = Campaign(
          id: "c\(number)", state: .published, version: 2, document: try #require(document),
          createdAt: MessageFixture.start, by: "admin:test", warnings: [])
        return KeyedRecordChange(kind: MessageService.Kind.campaign, key: campaign.id, value: campaign.stored)
      }
      _ = try await game.database.commit(request)
      #expect(game.messages.settings.publishedMax == 200)
      try await game.publish()
      let refusal = await #expect(throws: MessageError.self) { try await game.publish(["id": "beyond"]) }
      guard case .limit(let words)? = refusal else {
        Issue.record("it was refused by \(String(describing: refusal))")
        return
      }
      #expect(words.hasPrefix("200 campaigns are published"))
      _ = try await game.messages.stop("c7", by: Self.admin)
      #expect(try await game.messages.publish("beyond", by: Self.admin).state == .published)
    }
  }

  @Test("no more campaigns are published than the settings allow, and an end that has passed is refused")
  func limits() async throws {
    try await MessageFixture.run { (game) async throws in
      _ = try await game.messages.put(["maxPublished": 1])
      try await game.publish()
      await #expect(throws: MessageError.self) { try await game.publish(["id": "second"]) }
      await #expect(throws: MessageError.self) { try await game.messages.put(["fetchInterval": "often"]) }
      _ = try await game.messages.stop("hello", by: Self.admin)
      await #expect(throws: MessageError.self) {
        try await game.publish(["id": "late", "schedule": ["end": "2023-11-14T00:00", "timeZone": "UTC"]])
      }
    }
  }

  @Test("however many are published or made at once, there are never more than the settings allow")
  func crowds() async throws {
    try await MessageFixture.run(campaignsMax: 12) { (game) async throws in
      let messages = game.messages
      func race(_ step: @escaping @Sendable (Int) async throws -> Campaign) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
          for number in 0..<10 {
            group.addTask { (try? await step(number)) != nil }
          }
          return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
      }
      _ = try await messages.put(["maxPublished": 3])
      for number in 0..<10 {
        _ = try await messages.create(MessageFixture.document(["id": .string("c\(number)")]), by: Self.admin)
      }
      #expect(await race { try await messages.publish("c\($0)", by: Self.admin) } == 3)
      #expect(try messages.campaigns().count { $0.state == .published } == 3)
      #expect(
        await race { try await messages.create(MessageFixture.document(["id": .string("more\($0)")]), by: Self.admin) } == 2)
      #expect(try messages.campaigns().count == 12)
      // Those that were stopped, and those that were deleted, make room.
      let published = try #require(try messages.campaigns().first { $0.state == .published })
      _ = try await messages.stop(published.id, by: Self.admin)
      _ = try await messages.delete(published.id, by: Self.admin)
      #expect(await race { try await messages.publish("c\($0)", by: Self.admin) } == 1)
      #expect(
        await race { try await messages.create(MessageFixture.document(["id": .string("new\($0)")]), by: Self.admin) } == 1)
    }
  }
}
