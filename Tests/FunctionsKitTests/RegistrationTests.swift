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

  @Test("the configuration decides whether a function may run on the writer, and that is no setting of its own")
  func inlineMode() {
    let functions = Functions(settings: ["pay": ["inline": "never", "amount": 60], "other": ["inline": "whenShort"]])
    functions.onCreate(Places.level, name: "pay", settings: Amounts()) { _, _, _ in .done }
    functions.onCreate(Places.level, name: "other", options: FunctionOptions(inline: .never)) { _, _ in .done }
    functions.onCreate(Places.level, name: "plain") { _, _ in .done }
    #expect(functions.definitions.map(\.options.inline) == [.never, .whenShort, .whenShort])
    #expect(functions.definitions[0].settings == ["amount": 60, "code": "signup"])
    let wrong = Functions(checking: ["pay": ["inline": "always"]])
    wrong.onCreate(Places.level, name: "pay") { _, _ in .done }
    #expect(wrong.settingErrors.map(\.message) == ["inline of pay cannot be read: write \"never\" or \"whenShort\"."])
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
    functions.onUpdate(Places.level, name: "fails") { _, _ in throw PermanentError("no such prize") }
    functions.onUpdate(Places.level, name: "waits") { _, _ in throw RetryLater(after: .seconds(5), "shop closed") }
    functions.onUpdate(Places.level, name: "decodes") { _, _ in
      .skipped(try TreeNodeDecoder.decode(String.self, from: 1))
    }
    let failure = await #expect(throws: PermanentError.self) {
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

@Suite struct RetryPolicyTests {
  @Test("the delay doubles with each failure, up to the cap")
  func delays() {
    let delays = (1...12).map { RetryPolicy().delay(afterFailures: $0) }
    #expect(delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600].map { .seconds($0) })
  }

  @Test("twelve attempts take about 27 minutes")
  func total() {
    let policy = RetryPolicy()
    #expect(policy.attempts == 12)
    let total = (1..<policy.attempts).map { policy.delay(afterFailures: $0) }.reduce(.zero, +)
    #expect((Duration.seconds(26 * 60)...Duration.seconds(28 * 60)).contains(total))
  }

  @Test(
    "no number of failures leads beyond the cap, or over the end of a number",
    arguments: [
      (1, 3, 10, 3), (2, 3, 10, 6), (3, 3, 10, 10), (1000, 3, 10, 10), (.max, 1, 600, 600), (1, 30, 10, 10), (0, 3, 10, 3),
      (-5, 3, 10, 3),
    ] as [(Int, Int, Int, Int)])
  func edges(_ failures: Int, _ base: Int, _ cap: Int, _ expected: Int) {
    let policy = RetryPolicy(base: .seconds(base), cap: .seconds(cap))
    #expect(policy.delay(afterFailures: failures) == .seconds(expected))
  }

  @Test("the defaults fit a reward: a minute for a run, one key at a time")
  func options() {
    let options = FunctionOptions()
    #expect(options.deadline == .seconds(60))
    #expect(options.order == .perKey)
    #expect(options.retry == RetryPolicy())
    #expect(options.formerly.isEmpty)
  }
}

@Suite struct ChangeFilterTests {
  @Test(
    "rising admits a number that crosses the threshold upwards",
    arguments: [
      (4, 5, true), (0, 500, true), (-3, 5, true), (4.9, 5, true), (4, 5.5, true), (.int(.min), .int(.max), true),
      (5, 6, false),
      (5, 5, false), (4, 4.9, false), (5, 4, false), (nil, 5, false), (4, nil, false), ("4", 5, false), (4, "5", false),
      (false, true, false), (nil, nil, false),
    ] as [(Scalar?, Scalar?, Bool)])
  func rising(_ before: Scalar?, _ after: Scalar?, _ isAdmitted: Bool) {
    #expect(ChangeFilter.rising(to: 5)(before: before, after: after) == isAdmitted)
  }

  @Test(
    "changed admits exactly its change; whole doubles are integers",
    arguments: [
      (4, 5, true), (4.0, 5.0, true), (4, 5.5, false), (5, 4, false), (4, nil, false), (nil, 5, false), ("4", "5", false),
    ] as [(Scalar?, Scalar?, Bool)])
  func changed(_ before: Scalar?, _ after: Scalar?, _ isAdmitted: Bool) {
    #expect(ChangeFilter.changed(from: 4, to: 5)(before: before, after: after) == isAdmitted)
  }

  @Test("two spellings of a text are two values")
  func spellings() {
    let filter = ChangeFilter.changed(from: "\u{E9}", to: "done")
    #expect(filter(before: "\u{E9}", after: "done"))
    #expect(!filter(before: "e\u{301}", after: "done"))
  }

  @Test("any admits everything, and an author's own filter what its closure does")
  func own() {
    #expect(ChangeFilter.any(before: nil, after: nil))
    #expect(ChangeFilter.any(before: 1, after: "x"))
    let doubled = ChangeFilter.when("doubled") { before, after in
      guard let before = before?.intValue, let after = after?.intValue else { return false }
      return after == 2 * before
    }
    #expect(doubled(before: 2, after: 4))
    #expect(!doubled(before: 2, after: 5))
    #expect(!doubled(before: nil, after: 4))
    #expect(doubled.description == "doubled")
    #expect(ChangeFilter.rising(to: 5).description == "rising to 5")
    #expect(ChangeFilter.any.description == "any change")
  }

  @Test("a filter says its rule as the end of a sentence, and names a change that it admits, if the rule does")
  func words() {
    for (filter, words, example) in [
      (.any, "", nil), (.changed(from: 4, to: 5), " from 4 to 5", .init(before: 4, after: 5)),
      (.changed(from: "new", to: true), #" from "new" to true"#, .init(before: "new", after: true)),
      (.rising(to: 5), " rising to 5", .init(before: 4, after: 5)), (.rising(to: .min), " rising to \(Int64.min)", nil),
      (.when("the level doubled") { _, _ in false }, ", when the level doubled", nil),
    ] as [(ChangeFilter, String, ChangeFilter.Example?)] {
      #expect(filter.words == words)
      #expect(filter.example == example)
      if let example { #expect(filter(before: example.before, after: example.after)) }
    }
  }
}
