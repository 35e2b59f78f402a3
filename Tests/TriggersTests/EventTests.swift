import TreeDatabase
import FunctionsKit
import StorageCore
import Testing
import TreeModel

@testable import Triggers

/// Which events a commit makes.
struct EventTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var first: [WriteOperation] = []
    let writes: [WriteOperation]
    /// `kind path` of the events at the pattern.
    let events: [String]
    var pattern = "/users/{uid}/level"

    init(
      _ name: String, first: [WriteOperation] = [], _ writes: [WriteOperation], _ events: [String],
      pattern: String = "/users/{uid}/level"
    ) {
      testDescription = name
      self.first = first
      self.writes = writes
      self.events = events
      self.pattern = pattern
    }
  }

  static let level: Path = "/users/bob/level"
  static let four = WriteOperation.set(level, 4)

  static let cases: [Case] = [
    Case("null to 5", [.set(level, 5)], ["created /users/bob/level"]),
    Case("4 to 5", first: [four], [.set(level, 5)], ["updated /users/bob/level"]),
    Case("4 to 4", first: [four], [.set(level, 4)], []),
    Case("4 to 4.0", first: [four], [.set(level, 4.0)], []),
    Case("4 to null", first: [four], [.remove(level)], ["deleted /users/bob/level"]),
    Case("null to null", [.set(level, [:])], []),
    Case("null to an object of nulls", [.set(level, ["a": .absent])], []),
    Case(
      "below the pattern", first: [.set("/users/bob/level/x", 1)], [.set("/users/bob/level/y", 2)],
      ["updated /users/bob/level"]),
    Case("first leaf below the pattern", [.set("/users/bob/level/x", 1)], ["created /users/bob/level"]),
    Case(
      "last leaf below the pattern", first: [.set("/users/bob/level/x", 1)], [.remove("/users/bob/level/x")],
      ["deleted /users/bob/level"]),
    Case(
      "one of two leaves below the pattern", first: [.set(level, ["x": 1, "y": 2])], [.remove("/users/bob/level/x")],
      ["updated /users/bob/level"]),
    Case("leaf to map", first: [four], [.set(level, ["x": 1])], ["updated /users/bob/level"]),
    Case("map to leaf", first: [.set(level, ["x": 1])], [four], ["updated /users/bob/level"]),
    Case("a leaf under a leaf", first: [four], [.set("/users/bob/level/x", 1)], ["updated /users/bob/level"]),
    Case("above the pattern", [.set("/users/bob", ["level": 5, "name": "Bob"])], ["created /users/bob/level"]),
    Case("above the pattern, level unchanged", first: [four], [.set("/users/bob", ["level": 4, "name": "Bob"])], []),
    Case(
      "many users at once", [.set("/users", ["a": ["level": 1], "b": ["level": 2], "c": ["name": "C"]])],
      ["created /users/a/level", "created /users/b/level"]),
    Case(
      "delete many", first: [.set("/users", ["a": ["level": 1], "b": ["level": 2]])], [.remove("/users")],
      ["deleted /users/a/level", "deleted /users/b/level"]),
    Case("user to scalar", first: [four], [.set("/users/bob", "gone")], ["deleted /users/bob/level"]),
    Case("scalar to user", first: [.set("/users/bob", "here")], [four], ["created /users/bob/level"]),
    Case(
      "two edits under one match", first: [.set(level, ["x": 1])],
      [.set("/users/bob/level/x", 2), .set("/users/bob/level/y", 2)],
      ["updated /users/bob/level"]),
    Case("a path that is too short", [.set("/users/bob", 1)], []),
    Case("another path of the same length", [.set("/teams/bob/level", 1)], []),
    Case("a priority alone", first: [four], [.setPriority(level, priority: .scalar(3))], []),
    Case(
      "percent signs and other scripts stay as they are", [.set("/users/a%20ключ/level", 1)], ["created /users/a%20ключ/level"]),
    Case("a capture of several segments", [.set("/files/a/b/c", 1)], ["created /files/a/b/c"], pattern: "/files/{p=**}"),
    Case(
      "a map's own pattern", first: [.set("/users/bob", ["name": "B", "level": 1])], [.set("/users/bob/level", 2)],
      ["updated /users/bob"], pattern: "/users/{uid}"),
    Case(
      "a map that loses a leaf", first: [.set("/users/bob", ["name": "B", "level": 1])], [.remove("/users/bob/level")],
      ["updated /users/bob"], pattern: "/users/{uid}"),
    Case("a map that gets its first leaf", [.set("/users/bob/level", 1)], ["created /users/bob"], pattern: "/users/{uid}"),
    Case("the root", [.set("/a", 1)], ["created /"], pattern: "/"),
  ]

  @Test(arguments: cases) func oneWriteMakesTheseEvents(_ row: Case) async throws {
    let fixture = try await TriggerFixture(runs: false) { functions in
      register(row.pattern, in: functions)
    }
    for operation in row.first { try await fixture.write(operation) }
    let old = try fixture.events().count
    var request = CommitRequest(namespace: fixture.namespace, actor: .admin("ann"), operations: row.writes)
    request.log.requestID = "r"
    _ = try await fixture.database.commit(request)
    let made = try fixture.events().dropFirst(old)
    #expect(made.map { "\($0.kind) \($0.id.path.path!)" } == row.events)
    #expect(Set(made.map(\.id)).count == made.count)
    await fixture.close()
  }

  private func register(_ pattern: String, in functions: Functions) {
    switch pattern {
    case "/": functions.onWrite(TreePath<JSONValue>("/"), name: "watch") { _, _ in .done }
    case "/files/{p=**}": functions.onWrite(TreePath<JSONValue, String>(pattern), name: "watch") { _, _ in .done }
    default: functions.onWrite(TreePath<JSONValue, UserID>(pattern), name: "watch") { _, _ in .done }
    }
  }

  @Test(arguments: [
    ("created", ["onCreate", "onWrite"]), ("updated", ["onUpdate", "onWrite"]), ("deleted", ["onDelete", "onWrite"]),
  ]) func eachKindStartsItsFunctions(kind: String, expected: [String]) async throws {
    let ran = Notes<String>()
    let fixture = try await TriggerFixture { functions in
      functions.onCreate(Users.level, name: "onCreate") { _, _ in
        ran.add("onCreate"); return .done
      }
      functions.onUpdate(Users.level, name: "onUpdate") { _, _ in
        ran.add("onUpdate"); return .done
      }
      functions.onDelete(Users.level, name: "onDelete") { _, _ in
        ran.add("onDelete"); return .done
      }
      functions.onWrite(Users.level, name: "onWrite") { _, _ in
        ran.add("onWrite"); return .done
      }
    }
    if kind != "created" { try await fixture.write(Self.four, suppressingTriggers: true) }
    try await fixture.write(kind == "deleted" ? .remove(Self.level) : .set(Self.level, 5))
    try await fixture.drain()
    #expect(ran.all.sorted() == expected.sorted())
    await fixture.close()
  }

  @Test func beforeAndAfterAreWholeNodesAtThePattern() async throws {
    let seen = Notes<String>()
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(TreePath<JSONValue, UserID>("/users/{uid}"), name: "watch") { event, _ in
        seen.add("\(event.before?.text ?? "null") → \(event.after?.text ?? "null") \(event.details.actor)")
        return .done
      }
    }
    try await fixture.set("/users/bob/level", 4)
    try await fixture.write(.set("/users/bob/name", "Bob"), by: .admin("owner"))
    try await fixture.write(.remove("/users/bob"), by: .anonymous)
    try await fixture.drain()
    #expect(
      seen.all == [
        #"null → {"level":4} user:ann"#, #"{"level":4} → {"level":4,"name":"Bob"} admin:owner"#,
        #"{"level":4,"name":"Bob"} → null anonymous"#,
      ])
    await fixture.close()
  }

  @Test func aRefusedWriteAndASuppressedOneMakeNoEvent() async throws {
    let fixture = try await TriggerFixture(runs: false) { functions in
      functions.onWrite(Users.level, name: "watch") { _, _ in .done }
    }
    try await fixture.set(Self.level, 4)
    await #expect(throws: CommitError.self) {
      try await fixture.write(.compareAndSet(Self.level, expectedHash: "nonsense", node: WriteNode(5)))
    }
    try await fixture.write(.set(Self.level, 6), suppressingTriggers: true)
    #expect(try fixture.events().count == 1)
    #expect(try fixture.node(Self.level).scalar == 6)
    await fixture.close()
  }

  @Test("13: every round of a transaction that is refused makes no event, the one that is taken makes one, with its own values")
  func transactions() async throws {
    let seen = Notes<String>()
    let fixture = try await TriggerFixture { functions in
      functions.onUpdate(Users.level, name: "watch") { event, _ in
        seen.add("\(event.before) → \(event.after)")
        return .done
      }
    }
    try await fixture.set(Self.level, 4)
    // Two clients read 4; the second one's first round is late.
    let four = try fixture.node(Self.level).dataHash
    try await fixture.write(.compareAndSet(Self.level, expectedHash: four, node: WriteNode(5)))
    let late = await #expect(throws: CommitError.self) {
      try await fixture.write(.compareAndSet(Self.level, expectedHash: four, node: WriteNode(5)))
    }
    guard case .stale(let found)? = late?.code else {
      Issue.record("\(String(describing: late))")
      return
    }
    #expect(found.scalar == 5)
    try await fixture.drain()
    #expect(seen.all == ["4 → 5"])
    let five = try fixture.node(Self.level).dataHash
    try await fixture.write(.compareAndSet(Self.level, expectedHash: five, node: WriteNode(6)))
    try await fixture.drain()
    #expect(seen.all == ["4 → 5", "5 → 6"])
    #expect(try fixture.events().count == 2)
    await fixture.close()
  }

  @Test("16: captures reach the function byte by byte: percent signs, other scripts, both spellings of an accent")
  func captures() async throws {
    let seen = Notes<String>()
    let fixture = try await TriggerFixture { functions in
      functions.onCreate(TreePath<Int64, UserID, String>("/users/{uid}/items/{item}"), name: "watch") { event, _ in
        seen.add("\(event.params.0)|\(event.params.1)")
        return .done
      }
    }
    let names = ["a%20b", "a b", "ключ", "\u{E9}", "e\u{301}", "😀", "100%", "%"]
    for name in names {
      try await fixture.set(Path(keys: ["users", "bob", "items", name].map(Key.init(unchecked:))), 1)
    }
    try await fixture.drain()
    // By bytes: Swift takes the two spellings of é for equal.
    #expect(seen.all.map { Array($0.utf8) } == names.map { Array("bob|\($0)".utf8) })
    await fixture.close()
  }

  @Test func aFilterThatTurnsAChangeDownMakesNoEvent() async throws {
    let fixture = try await TriggerFixture(runs: false) { functions in
      functions.onUpdate(Users.level, name: "watch", when: .changed(from: 4, to: 5)) { _, _ in .done }
    }
    for value in [3, 4, 5, 6] as [TreeNode] { try await fixture.set(Self.level, value) }
    #expect(try fixture.events().count == 1)
    await fixture.close()
  }

  @Test func aWriteWithTooManyEventsIsRefusedWhole() async throws {
    var limits = WriteLimits()
    limits.eventsMax = 3
    let fixture = try await TriggerFixture(limits: limits, runs: false) { functions in
      functions.onWrite(Users.level, name: "watch") { _, _ in .done }
    }
    let refusal = await #expect(throws: CommitError.self) {
      try await fixture.set("/users", ["a": ["level": 1], "b": ["level": 1], "c": ["level": 1], "d": ["level": 1]])
    }
    #expect(refusal?.message.contains("disableTriggers") == true)
    #expect(try !fixture.node("/users").exists)
    try await fixture.set("/users", ["a": ["level": 1], "b": ["level": 1], "c": ["level": 1]])
    #expect(try fixture.events().count == 3)
    await fixture.close()
  }

  @Test func anEventThatIsTooLargeIsRefusedWhole() async throws {
    var limits = WriteLimits()
    limits.eventBytesMax = 1000
    let fixture = try await TriggerFixture(limits: limits, runs: false) { functions in
      functions.onWrite(TreePath<JSONValue, UserID>("/users/{uid}"), name: "watch") { _, _ in .done }
    }
    let text = String(repeating: "x", count: 400)
    try await fixture.set("/users/bob/a", .leaf(.string(text)))
    // The unchanged leaf counts on both sides.
    let refusal = await #expect(throws: CommitError.self) { try await fixture.set("/users/bob/b", .leaf(.string(text))) }
    guard case .triggersExceeded? = refusal?.code else { return #expect(Bool(false), "\(String(describing: refusal))") }
    #expect(try fixture.node("/users/bob").leafCount == 1)
    try await fixture.write(.set("/users/bob/b", .leaf(.string(text))), suppressingTriggers: true)
    await fixture.close()
  }
}

/// Any node, as text.
struct JSONValue: Codable, Sendable {
  let text: String

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: AnyKey.self) {
      let members = try container.allKeys.map { ($0.stringValue, try container.decode(JSONValue.self, forKey: $0).text) }
      text = "{" + members.sorted { $0.0 < $1.0 }.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    } else {
      let container = try decoder.singleValueContainer()
      if let value = try? container.decode(Int64.self) {
        text = "\(value)"
      } else {
        text = "\"\(try container.decode(String.self))\""
      }
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
