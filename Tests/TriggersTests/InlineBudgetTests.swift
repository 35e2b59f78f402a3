import FunctionsKit
import StorageCore
import Synchronization
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import Triggers

/// What a run on the writer may cost, and what becomes of one that costs more.
struct InlineBudgetTests {
  static let level: Path = "/users/bob/level"

  /// A function that does something of its own at its first run, swallows what comes of it, and pays.
  private static func pay(
    _ functions: Functions, runs: Notes<Int>, first body: @escaping @Sendable (FunctionContext, UserID) async throws -> Void
  ) {
    functions.onWrite(Users.level, name: "pay") { event, context in
      runs.add(event.details.attempt)
      if runs.count == 1 { try? await body(context, event.params) }
      try? await context.credit(Users.coins, event.params, amount: 50, code: "level")
      return .done
    }
  }

  private func expectRepeated(
    meter: TestMeter = TestMeter(), staysInline: Bool = false,
    _ body: @escaping @Sendable (FunctionContext, UserID) async throws -> Void
  ) async throws {
    let runs = Notes<Int>()
    let fixture = try await TriggerFixture.inline(options: .inline(meter: meter)) { Self.pay($0, runs: runs, first: body) }
    try await fixture.set(Self.level, 1)
    try await fixture.drain()
    // As if nothing had happened: the run on the thread is the first attempt, and pays once.
    #expect(runs.all == [1, 1])
    #expect(try fixture.coins("bob") == 50)
    #expect(try fixture.executions().map(\.attempt) == [1])
    #expect(try fixture.failedAttempts().isEmpty)
    #expect(fixture.inlineRuns(of: "pay") == 0)
    #expect(fixture.isInline("pay") == staysInline)
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test("A run that takes more than 200 us is dropped at its next use of the context, and repeated on a thread")
  func time() async throws {
    let meter = TestMeter()
    try await expectRepeated(meter: meter) { context, player in
      meter.advance(by: 201)
      _ = try await context.get(Users.level, player)
    }
  }

  @Test("A run that waited for the processor is repeated too, but that is not the function's fault")
  func preempted() async throws {
    let meter = TestMeter()
    try await expectRepeated(meter: meter, staysInline: true) { context, player in
      meter.advance(by: 201, computes: false)
      _ = try await context.get(Users.level, player)
    }
  }

  @Test("A run that reads more than 32 times is dropped")
  func lookUps() async throws {
    try await expectRepeated { context, player in
      for _ in 0..<33 { _ = try await context.get(Users.level, player) }
    }
  }

  @Test("A run that looks at the past or lists records is repeated on a thread, which can")
  func past() async throws {
    try await expectRepeated { context, _ in
      _ = try await context.exists(at: "/users/bob", asOf: TriggerFixture.start)
    }
  }

  @Test("A run that suspends for something from outside is dropped, and nothing that it does later counts")
  func suspended() async throws {
    let runs = Notes<Int>(), release = Latch(), late = Notes<Bool>(), ended = Latch()
    let fixture = try await TriggerFixture.inline { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        runs.add(1)
        if runs.count == 1 {
          await release.wait()
          do {
            try await context.credit(Users.coins, event.params, amount: 7, code: "late")
            late.add(true)
          } catch {
            late.add(false)
          }
          ended.open()
          return .done
        }
        try await context.credit(Users.coins, event.params, amount: 50, code: "level")
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    try await fixture.drain()
    #expect(try fixture.coins("bob") == 50)
    release.open()
    await ended.wait()
    #expect(late.all == [false])
    try await fixture.drain()
    #expect(try fixture.coins("bob") == 50)
    #expect(runs.count == 2)
    #expect(!fixture.isInline("pay"))
    await fixture.close()
  }

  @Test("A run that yields goes on in place, until it has taken too long")
  func yielding() async throws {
    let meter = TestMeter(), runs = Notes<Int>(), mayEnd = Atomic(false)
    let fixture = try await TriggerFixture.inline(options: .inline(meter: meter)) { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        runs.add(1)
        await Task.yield()
        while runs.count == 2, !mayEnd.load(ordering: .acquiring) {
          meter.advance(by: 10)
          await Task.yield()
        }
        try await context.credit(Users.coins, event.params, amount: 50, code: "level")
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    #expect(fixture.inlineRuns(of: "pay") == 1)
    // The second waits for somebody who will not come before it has ended.
    try await fixture.set(Self.level, 2)
    mayEnd.store(true, ordering: .releasing)
    try await fixture.drain()
    #expect(try fixture.coins("bob") == 100)
    #expect(runs.count == 3)
    #expect(fixture.inlineRuns(of: "pay") == 1)
    await fixture.close()
  }

  @Test("Tasks of the run's own, and actors, run in place")
  func ownTasks() async throws {
    actor Sum {
      var value: Int64 = 0
      func add(_ more: Int64) { value += more }
    }
    let fixture = try await TriggerFixture.inline { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        let sum = Sum()
        await withTaskGroup(of: Void.self) { group in
          for part in 1...4 { group.addTask { await sum.add(Int64(part)) } }
        }
        async let level = context.get(Users.level, event.params)
        try await context.credit(Users.coins, event.params, amount: sum.value + (level ?? 0), code: "level")
        return .done
      }
    }
    try await fixture.set(Self.level, 5)
    #expect(try fixture.coins("bob") == 15)
    #expect(fixture.inlineRuns(of: "pay") == 1)
    await fixture.close()
  }

  @Test("A function has to be short on threads before it runs on the writer, and for twice as long after a relapse")
  func learning() async throws {
    let meter = TestMeter(), slow = Switch()
    let fixture = try await TriggerFixture.inline(options: .inline(meter: meter, after: 3)) { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        if slow.isOn { meter.advance(by: 300) }
        try await context.credit(Users.coins, event.params, amount: 1, code: "level")
        return .done
      }
    }
    var coins: Int64 = 0
    func write(_ count: Int) async throws -> Int {
      let before = fixture.inlineRuns(of: "pay")
      for _ in 0..<count {
        coins += 1
        try await fixture.set(Self.level, .leaf(.int(coins)))
        try await fixture.drain()
      }
      return fixture.inlineRuns(of: "pay") - before
    }
    #expect(try await write(3) == 0)
    #expect(try await write(2) == 2)
    slow.isOn = true
    #expect(try await write(1) == 0)
    slow.isOn = false
    #expect(try await write(7) == 0)
    #expect(try await write(2) == 2)
    #expect(try fixture.coins("bob") == coins)
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test("A function whose runs are short enough each, but not on average, goes back to threads")
  func mean() {
    var pace = FunctionPace(InlineOptions(), mode: .whenShort)
    for _ in 0..<15 { pace.noteThreaded(100_000, isClean: true) }
    #expect(!pace.isInline)
    pace.noteThreaded(100_000, isClean: true)
    #expect(pace.isInline)
    for _ in 0..<16 { pace.noteInline(110_000) }
    #expect(!pace.isInline)
    // Twice as many as before, in a row.
    for _ in 0..<31 { pace.noteThreaded(20_000, isClean: true) }
    pace.noteThreaded(20_000, isClean: false)
    for _ in 0..<31 { pace.noteThreaded(20_000, isClean: true) }
    #expect(!pace.isInline)
    pace.noteThreaded(20_000, isClean: true)
    #expect(pace.isInline)
    for _ in 0..<1000 { pace.noteInline(20_000) }
    // One that was held up does not count for hundreds.
    pace.noteInline(50_000_000)
    #expect(pace.isInline)
  }

  @Test("A function that suspends, fails, or is slow on threads never comes to the writer")
  func unfit() {
    for (nanoseconds, isClean) in [(1000, false), (250_000, true)] as [(Int64, Bool)] {
      var pace = FunctionPace(InlineOptions(), mode: .whenShort)
      for _ in 0..<2000 { pace.noteThreaded(nanoseconds, isClean: isClean) }
      #expect(!pace.isInline)
    }
    var never = FunctionPace(InlineOptions(), mode: .never)
    for _ in 0..<2000 { never.noteThreaded(1000, isClean: true) }
    #expect(!never.isInline)
  }
}

/// Something that tests turn on and off.
private final class Switch: Sendable {
  private let state = Atomic(false)

  var isOn: Bool {
    get { state.load(ordering: .acquiring) }
    set { state.store(newValue, ordering: .releasing) }
  }
}
