import Ledger
import Messages
import RewardModel
import StorageCore
import Testing
import TreeDatabase
import TreeModel

/// What happens to players, told once.
@Suite struct RewardMessageTests {
  @Test("a reward writes one event, which comes with the fetch, and is told once")
  func story() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(MessageFixture.reward)
      try await game.pay("bob", 50, key: "level5/carol", subject: "carol")
      let answer = try await game.fetch(uid: "bob")
      #expect(answer.pending.map(\.id) == ["reward-1"])
      let message = try #require(answer.messages.first)
      #expect(message.texts.title == "You earned 50 pieces_of_eight!")
      #expect(message.texts.body == "Thanks to a friend.", "a uid is no name")
      #expect(message.events.map(\.name) == ["reward"])
      #expect(try await game.show("earned", event: "reward-1") == 1)
      let after = try await game.fetch(uid: "bob")
      #expect(after.messages.isEmpty && after.pending.isEmpty)
      let event = try #require(try game.messages.events(of: "bob").first)
      #expect(event.campaign == "earned" && event.shownAt == MessageFixture.start)
    }
  }

  @Test("an impression of a client that knows no events marks the oldest that waits")
  func plainClient() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(MessageFixture.reward)
      try await game.pay("bob", 50, key: "a")
      try await game.pay("bob", 60, key: "b")
      #expect(try await game.ids(uid: "bob") == ["earned"])
      try await game.show("earned", key: "1")
      #expect(try game.messages.events(of: "bob").filter { $0.shownAt == nil }.map(\.id) == ["reward-2"])
    }
  }

  @Test("where no campaign waits, or its condition does not hold, nothing is stored")
  func idle() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.pay("bob", 50, key: "before")
      try await game.publish(MessageFixture.reward)
      try await game.pay("bob", 49, key: "little")
      #expect(try game.messages.events(of: "bob").isEmpty)
      _ = try await game.messages.stop("earned", by: MessageFixture.admin)
      try await game.pay("bob", 50, key: "late")
      #expect(try game.messages.events(of: "bob").isEmpty)
    }
  }

  @Test("a reversal takes back what was not shown, and nothing else")
  func reversal() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(MessageFixture.reward)
      let first = try await game.pay("bob", 50, key: "a")
      let second = try await game.pay("bob", 60, key: "b")
      _ = try await game.ids(uid: "bob")
      try await game.show("earned", event: "reward-1")
      let namespace = try await game.database.openNamespace(named: "game")
      for entry in [first, second] {
        _ = try await game.ledger.reverse(entry.sequence, in: namespace, by: MessageFixture.admin, reason: "a mistake")
      }
      #expect(try game.messages.events(of: "bob").map(\.id) == ["reward-1"])
    }
  }

  @Test("an event that nobody fetches is over after thirty days")
  func expiry() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(MessageFixture.reward)
      try await game.pay("bob", 50, key: "a")
      game.clock.advance(by: 29 * MessageFixture.day)
      #expect(try await game.ids(uid: "bob") == ["earned"])
      game.clock.advance(by: 2 * MessageFixture.day)
      #expect(try await game.ids(uid: "bob") == [])
    }
  }

  @Test("an event that was raised under a key is raised once, and only where a campaign waits")
  func raised() async throws {
    try await MessageFixture.run { (game) async throws in
      let admin = MessageFixture.admin
      #expect(
        try await game.messages.raise("level_up", for: "bob", parameters: ["level": 5], once: "5", by: admin) == nil)
      try await game.publish(["triggers": [["server": "level_up"]]])
      let first = try await game.messages.raise("level_up", for: "bob", parameters: ["level": 5], once: "5", by: admin)
      _ = try await game.messages.raise("level_up", for: "bob", parameters: ["level": 5], once: "5", by: admin)
      #expect(first != nil)
      #expect(try game.messages.events(of: "bob").count == 1)
      await #expect(throws: MessageError.self) {
        _ = try await game.messages.raise("Level!", for: "bob", parameters: [:], once: nil, by: admin)
      }
    }
  }

  @Test("a message whose value is missing and has no fallback is withheld, and the reasons say so")
  func withheld() async throws {
    try await MessageFixture.run { (game) async throws in
      var document = MessageFixture.reward.object ?? []
      document.removeAll { $0.key == "content" }
      document.append(
        JSON.Member(
          key: "content",
          value: ["defaultLanguage": "en", "texts": ["en": ["title": "Thanks to {{inviter}}"]]]))
      let campaign = try await game.publish(.object(document))
      #expect(campaign.warnings.map(\.code) == ["NO_FALLBACK"])
      try await game.pay("bob", 50, key: "a")
      #expect(try await game.ids(uid: "bob") == [])
      let reasons = try game.messages.explain("earned", instance: nil, uid: "bob") { _, _ in true }
      let failed = reasons.first { !$0.holds }
      #expect(failed?.name == "texts" && failed?.value == ["inviter"], "\(reasons)")
    }
  }

  @Test("who leaves takes events, instances and marks along; counts stay")
  func erasure() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(MessageFixture.reward)
      try await game.pay("bob", 50, key: "a")
      _ = try await game.ids(uid: "bob")
      try await game.show("earned", event: "reward-1")
      let namespace = try await game.database.openNamespace(named: "game")
      let erasure = try game.database.engine.read { snapshot in
        try game.messages.erasure(of: "bob", addresses: [], in: namespace, snapshot: snapshot)
      }
      var request = CommitRequest(namespace: namespace, actor: MessageFixture.admin)
      request.rows.records = erasure.records
      _ = try await game.database.commit(request)
      #expect(try game.messages.events(of: "bob").isEmpty)
      #expect(try game.messages.devices(of: nil, limit: 10).isEmpty)
      let again = try game.database.engine.read { snapshot in
        try game.messages.erasure(of: "bob", addresses: [], in: namespace, snapshot: snapshot)
      }
      #expect(again.records.isEmpty)
      let results = try await game.messages.results(of: "earned", days: 1)
      #expect(results["totals"]?.array?.contains { $0["kind"]?.string == "impression" && $0["count"]?.int == 1 } == true)
    }
  }
}
