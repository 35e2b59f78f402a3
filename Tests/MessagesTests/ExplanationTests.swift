import Messages
import StorageCore
import Testing
import TreeDatabase
import TreeModel

/// Why somebody does not get a campaign: the first condition that does not hold, and what the client has instead.
@Suite struct ExplanationTests {
  /// A campaign that one installation of bob's does not get, and what is said of it.
  struct Case: Sendable, CustomTestStringConvertible {
    /// What is changed of the plain campaign.
    let changes: JSON
    /// The condition that fails first.
    let name: String
    /// What stands there instead.
    let value: JSON
    /// What happens after the fetch by which the installation is known.
    var before: @Sendable (MessageFixture) async throws -> Void = { _ in }

    init(
      _ changes: JSON, fails name: String, with value: JSON,
      before: @escaping @Sendable (MessageFixture) async throws -> Void = { _ in }
    ) {
      (self.changes, self.name, self.value, self.before) = (changes, name, value, before)
    }
    var testDescription: String { "\(name) \(changes.compactText)" }
  }

  static let cases: [Case] = [
    Case([:], fails: "state", with: "stopped") { game in
      _ = try await game.messages.stop("hello", by: MessageFixture.admin)
    },
    Case(
      ["schedule": ["start": "2023-11-14T22:14", "timeZone": "UTC"]], fails: "schedule", with: "2023-11-14T22:13:20.000Z"),
    Case(["audience": ["platforms": ["android"]]], fails: "audience.platforms", with: "ios"),
    Case(["audience": ["appVersion": [">=": "2.1"]]], fails: "audience.appVersion", with: "2.0"),
    Case(["audience": ["percent": 0]], fails: "audience.percent", with: .null),
    Case(["triggers": [["server": "reward"]]], fails: "triggers", with: []),
    Case(["frequency": ["lifetime": 1]], fails: "frequency.lifetime", with: 1) { game in _ = try await game.show() },
    Case(["frequency": ["every": "3d"]], fails: "frequency.caps[0]", with: 1) { game in
      _ = try await game.show()
      game.clock.advance(by: 2 * MessageFixture.day)
    },
    Case(["audience": ["player": ["uids": ["ann"]]]], fails: "audience.player.uids", with: "bob"),
    // What stands in the tree, and who invited whom, is not said to who only asks why.
    Case(["audience": ["tree": [["path": "/users/{uid}/level", ">=": 5]]]], fails: "audience.tree[0]", with: .null),
    Case(["audience": ["player": ["inviter": "ann"]]], fails: "audience.player.inviter", with: .null),
    Case(
      ["content": ["defaultLanguage": "en", "texts": ["en": ["title": "Hello {{player.name}}"]]]], fails: "texts",
      with: ["player.name"]),
  ]

  @Test("the first condition that fails is named, with what the client has; all before it hold", arguments: cases)
  func first(_ one: Case) async throws {
    try await MessageFixture.run { (game) async throws in
      let namespace = try await game.database.openNamespace(named: "game")
      let level = WriteOperation.set("/users/bob/level", .leaf(.int(4)))
      _ = try await game.database.commit(CommitRequest(namespace: namespace, actor: .anonymous, operations: [level]))
      try await game.publish(one.changes)
      let served = try await game.ids(uid: "bob") { client in
        (client.platform, client.appVersion) = ("ios", "2.0")
      }
      try await one.before(game)
      let reasons = try game.messages.explain("hello", instance: MessageFixture.instance, uid: nil) { _, _ in true }
      let place = try #require(reasons.firstIndex { !$0.holds }, "\(reasons)")
      #expect(reasons[place].name == one.name, "\(reasons)")
      // Where an installation stands among a hundred is its own number.
      if one.name != "audience.percent" { #expect(reasons[place].value == one.value, "\(reasons)") }
      let known = ["state", "schedule", "triggers"]
      #expect(known.allSatisfy { name in reasons.contains { $0.name == name } }, "\(reasons)")
      // What is said is what is done: before something happened it came, else it did not.
      let changesLater = ["state", "frequency.lifetime", "frequency.caps[0]"].contains(one.name)
      #expect(served == (changesLater ? ["hello"] : []))
      #expect(try await game.ids(uid: "bob") { ($0.platform, $0.appVersion) = ("ios", "2.0") } == [])
    }
  }

  @Test("of several conditions that fail the cheapest is named, and the others say for themselves that they fail")
  func several() async throws {
    try await MessageFixture.run { (game) async throws in
      let audience: JSON = ["platforms": ["android"], "player": ["uids": ["ann"]]]
      try await game.publish(["audience": audience, "triggers": [["server": "reward"]]])
      _ = try await game.ids(uid: "bob") { $0.platform = "ios" }
      let reasons = try game.messages.explain("hello", instance: MessageFixture.instance, uid: nil) { _, _ in true }
      #expect(reasons.filter { !$0.holds }.map(\.name) == ["audience.platforms", "triggers", "audience.player.uids"])
      #expect(throws: MessageError.self) {
        _ = try game.messages.explain("hello", instance: "nobody", uid: nil) { _, _ in true }
      }
      #expect(throws: MessageError.self) {
        _ = try game.messages.explain("nothing", instance: nil, uid: "bob") { _, _ in true }
      }
    }
  }
}
