import FunctionsKit
import Testing
import TreeModel

@Suite struct FunctionContextTests {
  let bob: UserID
  let eve: UserID

  init() throws {
    bob = UserID("bob")
    eve = UserID("eve")
  }

  @Test("a context reads the tree as of its event, and its time is the event's")
  func reading() async throws {
    let context = FunctionContext(
      FixedReader(before: 1, atEvent: ["users": ["bob": ["level": 5, "name": 7]]], latest: ["users": ["bob": ["level": 9]]]))
    #expect(context.now == 1_700_000_000_000)
    #expect(context.event.actor == "user:bob")
    #expect(try await context.get(Places.level, bob) == 5)
    #expect(try await context.get(Places.level, eve) == nil)
    #expect(try await context.node(at: "/users/bob") == ["level": 5, "name": 7])
    await #expect(throws: ValueTypeError.self) { try await context.get(Places.name, bob) }
    #expect(try context.finish().isEmpty)
  }

  @Test("writes are collected in the order they were asked for")
  func writes() async throws {
    let context = FunctionContext()
    let update = try WriteOperation.update("/", [WriteOperation.Assignment(path: "/a", value: .node(.timestamp))])
    try await context.set(Places.seat, "owls", 6, to: Seat(player: "bob", since: 3))
    try await context.increment(Places.total, by: -2)
    try await context.remove(Places.name, bob)
    try await context.write(update)
    try await context.set(Places.level, bob, to: 6)
    let effects = try context.finish()
    #expect(
      effects.operations == [
        .set("/guilds/owls/seats/6", ["player": "bob", "since": 3] as TreeNode), .set("/total", .increment(-2)),
        .remove("/users/bob/name"), update, .set("/users/bob/level", 6 as TreeNode),
      ])
    #expect(effects.postings.isEmpty && effects.messages.isEmpty && effects.assumptions.isEmpty)
    #expect(!effects.isEmpty)
  }

  @Test("payments are collected with everything that was said about them")
  func payments() async throws {
    let context = FunctionContext()
    try await context.credit(
      Places.coins, bob, amount: 50, code: "level5", once: "level5/bob", subject: "eve", note: "well done")
    try await context.debit(Places.coins, eve, amount: .max, code: "shop")
    let postings = try context.finish().postings
    #expect(postings.map(\.direction) == [.credit, .debit])
    #expect(postings.map(\.path) == ["/users/bob/coins", "/users/eve/coins"])
    #expect(postings.map(\.amount) == [50, .max])
    #expect(postings.map(\.code) == ["level5", "shop"])
    #expect(postings.map(\.key) == ["level5/bob", nil])
    #expect(postings.map(\.subject) == ["eve", nil])
    #expect(postings.map(\.note) == ["well done", nil])
  }

  @Test(
    "an amount is above zero, and a code one word",
    arguments: [(0, "a"), (-1, "a"), (.min, "a"), (1, ""), (1, "a/b")] as [(Int64, String)])
  func refusedPayments(_ amount: Int64, _ code: String) async throws {
    for isCredit in [true, false] {
      let context = FunctionContext()
      let error = await #expect(throws: FunctionContextError.self) {
        if isCredit {
          try await context.credit(Places.coins, bob, amount: amount, code: code)
        } else {
          try await context.debit(Places.coins, bob, amount: amount, code: code)
        }
      }
      let told = #expect(throws: FunctionContextError.self) { try context.finish() }
      #expect(told == error)
    }
  }

  /// Two payments of one run: who is paid, the code and the key of each, and whether the second is taken.
  static let pairs: [(first: (String, String, String?), second: (String, String, String?), isTaken: Bool)] = [
    (("bob", "a", nil), ("bob", "a", nil), false), (("bob", "a", nil), ("eve", "a", nil), true),
    (("bob", "a", nil), ("bob", "b", nil), true), (("bob", "a", "k"), ("bob", "a", "k"), false),
    (("bob", "a", "k"), ("eve", "a", "k"), false), (("bob", "a", "k"), ("bob", "a", "l"), true),
    (("bob", "a", "k"), ("bob", "a", nil), true), (("bob", "a", "k"), ("eve", "b", "k"), false),
  ]

  @Test("a run pays nobody twice under one key", arguments: pairs.indices)
  func twice(_ index: Int) async throws {
    let (first, second, isTaken) = Self.pairs[index]
    let context = FunctionContext()
    try await context.credit(Places.coins, #require(UserID(first.0)), amount: 5, code: first.1, once: first.2)
    let player = try #require(UserID(second.0))
    if isTaken {
      try await context.credit(Places.coins, player, amount: 5, code: second.1, once: second.2)
      #expect(try context.finish().postings.count == 2)
    } else {
      await #expect(throws: FunctionContextError.self) {
        try await context.credit(Places.coins, player, amount: 5, code: second.1, once: second.2)
      }
      #expect(throws: FunctionContextError.self) { try context.finish() }
    }
  }

  @Test("a misuse that the function swallowed still fails the run, and the first one is told")
  func swallowed() async throws {
    let context = FunctionContext()
    try await context.set(Places.level, bob, to: 6)
    try? await context.credit(Places.coins, bob, amount: -5, code: "a")
    try? await context.credit(Places.coins, bob, amount: 5, code: "a/b")
    try await context.credit(Places.coins, bob, amount: 5, code: "a")
    let error = #expect(throws: FunctionContextError.self) { try context.finish() }
    #expect(error?.message.contains("-5") == true)
  }

  /// Everything that can be asked of a context.
  static let uses: [(name: String, use: @Sendable (FunctionContext, UserID) async throws -> Void)] = [
    ("get", { context, bob in _ = try await context.get(Places.level, bob) }),
    ("node", { context, _ in _ = try await context.node(at: "/") }),
    ("credit", { context, bob in try await context.credit(Places.coins, bob, amount: 1, code: "a") }),
    ("debit", { context, bob in try await context.debit(Places.coins, bob, amount: 1, code: "a") }),
    ("set", { context, bob in try await context.set(Places.level, bob, to: 1) }),
    ("increment", { context, _ in try await context.increment(Places.total, by: 1) }),
    ("remove", { context, bob in try await context.remove(Places.level, bob) }),
    ("write", { context, _ in try await context.write(.remove("/a")) }),
    ("transaction", { context, _ in try await context.transaction(Places.total) { ($0 ?? 0) + 1 } }),
    ("send", { context, _ in try await context.send("hello", to: "webhook") }),
  ]

  @Test("after its run a context throws, and changes nothing", arguments: uses.indices)
  func afterwards(_ index: Int) async throws {
    let use = Self.uses[index].use
    let finished = FunctionContext()
    try await finished.increment(Places.total, by: 7)
    _ = try finished.finish()
    let abandoned = FunctionContext()
    abandoned.abandon()
    for context in [finished, abandoned] {
      let error = await #expect(throws: FunctionContextError.self, "\(Self.uses[index].name)") { try await use(context, bob) }
      #expect(error?.message.contains("1-42:/users/bob/level") == true)
    }
    #expect(try finished.finish().operations == [.set("/total", .increment(7))])
    #expect(try abandoned.finish().isEmpty)
  }

  @Test(
    "a transaction sees the latest value, writes its answer, and records what it saw",
    arguments: [(nil, 1), (4, 5), (-1, nil)] as [(Int64?, Int64?)])
  func transaction(_ current: Int64?, _ expected: Int64?) async throws {
    let node = current.map { TreeNode.leaf(.int($0)) } ?? .absent
    let context = FunctionContext(FixedReader(atEvent: ["total": 100], latest: ["total": node]))
    try await context.transaction(Places.total) { value in
      #expect(value == current)
      return value == -1 ? nil : (value ?? 0) + 1
    }
    let effects = try context.finish()
    #expect(effects.operations == [.set("/total", expected.map { TreeNode.leaf(.int($0)) } ?? .absent)])
    #expect(effects.assumptions.map(\.path) == ["/total"])
    #expect(effects.assumptions.map(\.node) == [node])
  }

  @Test("a transaction goes on from what the same run has asked for before, at its place, above and below it")
  func transactionAfterWrites() async throws {
    let context = FunctionContext(FixedReader(latest: ["total": 100, "guilds": ["g": ["seats": ["1": ["player": "ann"]]]]]))
    try await context.increment(Places.total, by: 50)
    try await context.transaction(Places.total) { ($0 ?? 0) + 10 }
    try await context.transaction(Places.total) { ($0 ?? 0) * 2 }
    try await context.write(.set("/guilds/g/seats/1/since", 7))
    try await context.transaction(Places.seat, "g", 1) { seat in
      #expect(seat == Seat(player: "ann", since: 7))
      return nil
    }
    try await context.write(.set("/guilds", ["h": ["seats": ["2": ["player": "bob", "since": 1]]]]))
    try await context.transaction(Places.seat, "h", 2) { seat in
      #expect(seat == Seat(player: "bob", since: 1))
      return seat
    }
    try await context.transaction(Places.seat, "g", 1) { seat in
      #expect(seat == nil)
      return seat
    }
    let effects = try context.finish()
    #expect(effects.operations[1...2] == [.set("/total", 160), .set("/total", 320)])
    #expect(effects.assumptions[..<2].map(\.node) == [100, 100])
  }

  @Test("a payment that is left out if it was paid before has a key of its own")
  func leavingOut() async throws {
    let context = FunctionContext()
    try await context.credit(Places.coins, bob, amount: 5, code: "a", once: "a/bob", ifPaid: .leaveOut)
    try await context.credit(Places.coins, bob, amount: 7, code: "b", once: "b/bob")
    let effects = try context.finish()
    #expect(effects.leavingOut { $0.ifPaid == .leaveOut }.postings.map(\.key) == ["b/bob"])
    let keyless = FunctionContext()
    try? await keyless.credit(Places.coins, bob, amount: 5, code: "a", ifPaid: .leaveOut)
    #expect(throws: FunctionContextError.self) { _ = try keyless.finish() }
  }

  @Test("an effect that could not be asked for fails the run, also if the function swallowed that")
  func swallowedPath() async throws {
    let asks: [@Sendable (FunctionContext) async throws -> Void] = [
      { try await $0.set(Places.seat, "a/b", 1, to: Seat(player: "x")) }, { try await $0.remove(Places.seat, "", 1) },
      { try await $0.transaction(Places.seat, "a.b", 1) { $0 } },
      { try await $0.set(TreePath<Double>("/ratio"), to: .infinity) },
    ]
    for ask in asks {
      let context = FunctionContext()
      try? await ask(context)
      #expect(throws: (any Error).self) { _ = try context.finish() }
    }
  }

  @Test("a transaction whose update throws, or whose value is another type, asks for nothing")
  func failedTransaction() async throws {
    let context = FunctionContext(FixedReader(latest: ["total": "much"]))
    await #expect(throws: ValueTypeError.self) { try await context.transaction(Places.total) { ($0 ?? 0) + 1 } }
    await #expect(throws: PermanentError.self) {
      try await context.transaction(Places.coins, bob) { _ in throw PermanentError("no") }
    }
    let effects = try context.finish()
    #expect(effects.isEmpty)
    #expect(effects.assumptions.isEmpty)
  }

  @Test("messages to one outlet differ by their labels")
  func messages() async throws {
    let context = FunctionContext()
    try await context.send(Seat(player: "bob", since: 3), to: "webhook")
    try await context.send("hi", to: "mail")
    try await context.send("ho", to: "webhook", label: "second")
    await #expect(throws: FunctionContextError.self) { try await context.send("again", to: "webhook") }
    #expect(throws: FunctionContextError.self) { try context.finish() }
    let other = FunctionContext()
    try await other.send(Seat(player: "bob", since: 3), to: "webhook")
    try await other.send("ho", to: "webhook", label: "second")
    let messages = try other.finish().messages
    #expect(messages.map(\.outlet) == ["webhook", "webhook"])
    #expect(messages.map(\.payload) == [["player": "bob", "since": 3], "ho"])
    #expect(messages.map(\.label) == ["message", "second"])
  }

  @Test("what many tasks of a run ask for at once is all there")
  func concurrency() async throws {
    let context = FunctionContext()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 1...200 {
        group.addTask { try await context.increment(Places.total, by: Int64(index)) }
      }
      try await group.waitForAll()
    }
    let operations = try context.finish().operations
    #expect(operations.count == 200)
    #expect(Set(operations) == Set((1...200).map { .set("/total", .increment(Int64($0))) }))
  }
}

/// Limits that are declared where a function is declared.
@Suite struct RewardLimitsTests {
  private static let options = FunctionOptions(limits: RewardLimits(perReferrer: 20, perDay: 500))

  @Test("Declared limits are settings of the function beside its own, which the configuration overrides one by one")
  func overrides() throws {
    let functions = Functions(settings: ["pay": ["perReferrer": 5, "perNetwork": 9, "untilConfirmed": true, "amount": 60]])
    functions.onCreate(Places.level, name: "pay", settings: Amounts(), options: Self.options) { _, _, settings in
      .skipped("\(settings.amount)")
    }
    functions.onUpdate(Places.level, name: "same", options: Self.options) { _, _ in .done }
    functions.onDelete(Places.level, name: "plain") { _, _ in .done }
    let pay = try #require(functions.definitions.first)
    #expect(pay.limits == RewardLimits(perReferrer: 5, perNetwork: 9, perDay: 500, untilConfirmed: true))
    #expect(
      pay.settings == [
        "amount": 60, "code": "signup", "perReferrer": 5, "perNetwork": 9, "perDay": 500, "untilConfirmed": true,
      ])
    #expect(
      functions.limits(RewardLimits(perDay: 1), of: "pay")
        == RewardLimits(perReferrer: 5, perNetwork: 9, perDay: 1, untilConfirmed: true))
    // What waits for a confirmation has a function that pays it out.
    #expect(functions.definitions.map(\.name) == ["pay", "releaseConfirmedRewards", "same", "plain"])
    #expect(functions.definitions[2].limits == Self.options.limits)
    #expect(functions.definitions[3].limits == nil && !functions.definitions[3].settings.exists)
  }

  @Test("A limit that makes no sense, and one that the function does not have, are faults with a sentence")
  func faults() {
    struct Own: FunctionSettings { var perDay: Int64 = 3 }
    let functions = Functions(checking: [
      "below": ["perReferrer": -1], "text": ["perDay": "many"], "none": ["perDay": 3], "more": ["perWeek": 3],
    ])
    for name in ["below", "text", "more"] {
      functions.onCreate(Places.level, name: name, options: FunctionOptions(limits: RewardLimits())) { _, _ in .done }
    }
    functions.onCreate(Places.level, name: "none") { _, _ in .done }
    functions.onCreate(Places.level, name: "twice", settings: Own(), options: Self.options) { _, _, _ in .done }
    let faults = functions.settingErrors.map { "\($0.function) \($0.setting ?? "-")" }
    #expect(faults == ["below perReferrer", "text -", "more perWeek", "none perDay"])
    #expect(
      functions.settingErrors[2].message
        == "more has no setting perWeek; it has perDay, perNetwork, perReferrer, untilConfirmed.")
    #expect(functions.mistakes == ["twice: perDay is a setting of the function and one of its limits; keep one."])
  }

  @Test("A payment of a function with limits says whom it is about; one that does not fails the run, also if it is swallowed")
  func withoutTerms() async throws {
    let bob: UserID = "bob"
    let context = FunctionContext(event: .sample(), reader: FixedReader(), limits: RewardLimits(perDay: 3))
    try? await context.credit(Places.coins, bob, amount: 5, code: "signup")
    #expect { try context.finish() } throws: { "\($0)".contains("\"signup\" does not say whom it is about") }
    let free = FunctionContext()
    try await free.credit(Places.coins, bob, amount: 5, code: "signup")
    #expect(try free.finish().postings.count == 1)
  }
}
