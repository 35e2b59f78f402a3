import FunctionsKit
import Testing
import TreeModel

@Suite struct RegistrationTests {
  @Test("each way to register keeps its kind, place, filter and options, in order")
  func kinds() {
    let functions = Functions()
    functions.onCreate(Places.level, name: "a", options: FunctionOptions(order: .unordered)) { _, _ in .done }
    functions.onUpdate(Places.level, name: "b", when: .rising(to: 5)) { _, _ in .done }
    functions.onDelete(Places.name, name: "c", options: FunctionOptions(formerly: ["old"])) { _, _ in .done }
    functions.onWrite(Places.seat, name: "d", when: .changed(from: 1, to: 2)) { _, _ in .done }
    let definitions = functions.definitions
    #expect(definitions.map(\.name) == ["a", "b", "c", "d"])
    #expect(definitions.map(\.trigger) == [.onCreate, .onUpdate, .onDelete, .onWrite])
    #expect(
      definitions.map(\.pattern.description)
        == ["/users/{uid}/level", "/users/{uid}/level", "/users/{uid}/name", "/guilds/{guild}/seats/{seat}"])
    #expect(definitions.map(\.filter.description) == ["any change", "rising to 5", "any change", "from 1 to 2"])
    #expect(definitions[0].options.order == .unordered)
    #expect(definitions[2].options.formerly == ["old"])
    #expect(definitions.allSatisfy { !$0.settings.exists })
  }

  @Test("settings come from the code, and the configuration overrides them by function and name")
  func settings() async throws {
    let functions = Functions(settings: ["pay": ["amount": 60, "limit": 3], "other": ["amount": 1]])
    functions.onCreate(Places.level, name: "pay", settings: Amounts()) { _, _, settings in
      .skipped("\(settings.amount) \(settings.code) \(settings.limit ?? 0)")
    }
    functions.onUpdate(Places.level, name: "plain", settings: Amounts(amount: 7)) { _, _, settings in
      .skipped("\(settings.amount) \(settings.code) \(settings.limit ?? 0)")
    }
    let (pay, plain) = (functions.definitions[0], functions.definitions[1])
    #expect(pay.settings == ["amount": 60, "code": "signup", "limit": 3])
    #expect(plain.settings == ["amount": 7, "code": "signup"])
    #expect(try await pay.outcome(["bob"], after: 1) == .skipped("60 signup 3"))
    #expect(try await plain.outcome(["bob"], before: 1, after: 2) == .skipped("7 signup 0"))
    #expect(functions.settings(Amounts(), of: "other") == Amounts(amount: 1))
    #expect(functions.settings(Amounts(), of: "unknown") == Amounts())
  }

  @Test("a function sees its values and captures in their types")
  func inputs() async throws {
    let functions = Functions()
    functions.onCreate(Places.seat, name: "create") { event, _ in
      .skipped("\(event.params.0) \(event.params.1 + 1) \(event.value.player) \(event.value.since ?? -1)")
    }
    functions.onUpdate(Places.level, name: "update") { event, _ in .skipped("\(event.params) \(event.before) \(event.after)") }
    functions.onDelete(Places.name, name: "delete") { event, _ in .skipped("\(event.params) \(event.value)") }
    functions.onWrite(Places.total, name: "write") { event, _ in
      .skipped("\(event.before.map { "\($0)" } ?? "nothing") \(event.after.map { "\($0)" } ?? "nothing")")
    }
    let (create, update) = (functions.definitions[0], functions.definitions[1])
    let (delete, write) = (functions.definitions[2], functions.definitions[3])
    #expect(try await create.outcome(["owls", "6"], after: ["player": "bob"]) == .skipped("owls 7 bob -1"))
    #expect(try await create.outcome(["owls", "6"], after: ["player": "eve", "since": 9]) == .skipped("owls 7 eve 9"))
    #expect(try await update.outcome(["bob"], before: 4, after: 5) == .skipped("bob 4 5"))
    #expect(try await delete.outcome(["bob"], before: "Bob") == .skipped("bob Bob"))
    #expect(try await write.outcome([], after: 1) == .skipped("nothing 1"))
    #expect(try await write.outcome([], before: 1, after: 2) == .skipped("1 2"))
    #expect(try await write.outcome([], before: 2) == .skipped("2 nothing"))
  }

  /// Input that does not fit: captures, before and after.
  static let misfits: [(function: String, captures: [String], before: TreeNode, after: TreeNode, found: String)] = [
    ("level", ["bob"], 4, "five", "expected Int, found a string"),
    ("level", ["bob"], "four", 5, "expected Int, found a string"), ("level", ["bob"], 4, 5.5, "the number is no exact Int"),
    ("level", ["bob"], 4, true, "expected Int, found a boolean"), ("level", ["bob"], 4, ["a": 5], "found a map"),
    ("level", ["bob"], .absent, 5, "found nothing"),
    ("level", ["a/b"], 4, 5, "expected UserID as capture 1 of the path, found \"a/b\""),
    ("level", [], 4, 5, "expected a captured UserID, found none"),
    ("seat", ["owls", "6"], ["player": "bob"], ["player": 1], "player: expected String, found a number"),
    ("seat", ["owls", "6"], ["player": "bob"], ["since": 1], "player: expected String, found nothing"),
    ("seat", ["owls", "06"], ["player": "bob"], ["player": "eve"], "expected Int as capture 2 of the path, found \"06\""),
    ("seat", ["owls"], ["player": "bob"], ["player": "eve"], "found none"),
    ("seat", ["owls", "x"], ["player": "bob"], ["player": "eve"], "found \"x\""),
    ("seat", ["owls", "6"], "bob", ["player": "eve"], "expected a map, found a string"),
  ]

  @Test("a list that is only looked at gathers the mistakes, and leaves those registrations out")
  func mistakes() {
    let functions = Functions(checking: .absent)
    functions.onCreate(Places.level, name: "a") { _, _ in .done }
    functions.onCreate(Places.name, name: "a") { _, _ in .done }
    functions.onCreate(Places.name, name: "b/c") { _, _ in .done }
    functions.onCreate(TreePath<Int, UserID>("/users/{uid/level"), name: "misspelt") { _, _ in .done }
    functions.onCreate(TreePath<Int, UserID>("/users/level"), name: "untyped") { _, _ in .done }
    functions.currency("gems", at: TreePath<Int64>("/gems/{uid}"))
    #expect(functions.definitions.map(\.name) == ["a"] && functions.currencies.isEmpty)
    #expect(
      functions.mistakes.map { String($0.prefix(58)) } == [
        "Two functions are, or were, called a; a name belongs to on",
        "\"b/c\" cannot be a function's name: it must be a legal key.",
        "misspelt: TreePath(\"/users/{uid/level\"): Invalid pattern: ",
        "untyped: TreePath(\"/users/level\") has 0 captures and 1 par",
        "The currency gems: TreePath(\"/gems/{uid}\") has 1 captures ",
      ])
  }

  @Test("input of another type is skipped, and the function never sees it", arguments: misfits.indices)
  func mismatch(_ index: Int) async throws {
    let functions = Functions()
    functions.onUpdate(Places.level, name: "level") { _, _ in .done }
    functions.onUpdate(Places.seat, name: "seat") { _, _ in .done }
    let row = Self.misfits[index]
    let definition = try #require(functions.definitions.first { $0.name == row.function })
    guard case .skipped(let reason) = try await definition.outcome(row.captures, before: row.before, after: row.after) else {
      Issue.record("it ran")
      return
    }
    #expect(reason.hasPrefix("type_mismatch: \(definition.pattern): "), "\(reason)")
    #expect(reason.contains(row.found), "\(reason)")
  }

  @Test("what a function throws is not taken for a mismatch")
  func errors() async throws {
    let functions = Functions()
    functions.onUpdate(Places.level, name: "fails") { _, _ in throw PermanentFailure("no such prize") }
    functions.onUpdate(Places.level, name: "waits") { _, _ in throw RetryLater(after: .seconds(5), "shop closed") }
    functions.onUpdate(Places.level, name: "decodes") { _, _ in
      .skipped(try TreeNodeDecoder.decode(String.self, from: 1))
    }
    let failure = await #expect(throws: PermanentFailure.self) {
      try await functions.definitions[0].outcome(["bob"], before: 4, after: 5)
    }
    #expect(failure?.reason == "no such prize")
    let later = await #expect(throws: RetryLater.self) {
      try await functions.definitions[1].outcome(["bob"], before: 4, after: 5)
    }
    #expect(later?.delay == .seconds(5))
    await #expect(throws: DecodingError.self) {
      try await functions.definitions[2].outcome(["bob"], before: 4, after: 5)
    }
  }
}
