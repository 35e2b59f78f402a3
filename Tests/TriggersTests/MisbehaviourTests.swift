import RewardModel
import FunctionsKit
import StorageCore
import Synchronization
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import Triggers

/// Functions that do what they should not.
struct MisbehaviourTests {
  static let level: Path = "/users/bob/level"
  static let once = RetryPolicy(attempts: 1)

  @Test func aSwallowedErrorOfCreditFailsTheRun() async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "pay", options: FunctionOptions(retry: Self.once)) { event, context in
        try? await context.credit(Users.coins, event.params, amount: -5, code: "level")
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    try await fixture.drain()
    #expect(try fixture.deliveries(.dead).first?.lastError.contains("above zero") == true)
    #expect(try fixture.executions().isEmpty)
    await fixture.close()
  }

  @Test func creditingTwiceUnderOneCodePaysNothing() async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "pay", options: FunctionOptions(retry: Self.once)) { event, context in
        try await context.credit(Users.coins, event.params, amount: 5, code: "level")
        try await context.credit(Users.coins, event.params, amount: 5, code: "level")
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    try await fixture.drain()
    #expect(try fixture.coins("bob") == nil)
    #expect(try fixture.deliveries(.dead).first?.lastError.contains("paid twice") == true)
    await fixture.close()
  }

  @Test func payingTwoPlayersUnderOneCodePaysBoth() async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        try await context.credit(Users.coins, event.params, amount: 5, code: "level")
        try await context.credit(Users.coins, UserID("eve"), amount: 7, code: "level")
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    try await fixture.drain()
    #expect(try fixture.coins("bob") == 5)
    #expect(try fixture.coins("eve") == 7)
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test func settingTheBalanceItselfIsAnAdjustment() async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        try await context.set(Users.coins, event.params, to: 120)
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    try await fixture.drain()
    #expect(try fixture.coins("bob") == 120)
    #expect(try fixture.entries().map(\.transfer.code) == ["adjustment"])
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test(arguments: [
    ("a string", TreeNode("10"), "balance_type"), ("a fraction", 1.5, "balance_type"),
    ("the largest number", TreeNode(.leaf(.int(.max))), "balance_overflow"),
  ]) func aBalanceThatCannotBeAddedToStaysAsItIs(name: String, balance: TreeNode, reason: String) async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        try await context.credit(Users.coins, event.params, amount: 50, code: "level")
        return .done
      }
    }
    try await fixture.set("/users/bob/inventory/pieces_of_eight", balance)
    try await fixture.set(Self.level, 1)
    try await fixture.drain()
    let dead = try #require(try fixture.deliveries(.dead).first)
    #expect(dead.lastError.hasPrefix(reason))
    #expect(dead.attempts == 1)
    #expect(try fixture.node("/users/bob/inventory/pieces_of_eight") == balance)
    await fixture.close()
  }

  @Test func payingToAPlaceThatIsNoBalanceSaysWhatToDo() async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        try await context.credit(TreePath<Int64, UserID>("/users/{uid}/gold"), event.params, amount: 50, code: "level")
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    try await fixture.drain()
    #expect(try fixture.deliveries(.dead).first?.lastError.contains("Declare the currency") == true)
    await fixture.close()
  }

  @Test func aContextThatIsUsedLateThrowsAndChangesNothing() async throws {
    let release = Latch(), late = Notes<Bool>(), ended = Latch()
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "leak") { event, context in
        let params = event.params
        Task.detached {
          await release.wait()
          do {
            try await context.credit(Users.coins, params, amount: 50, code: "late")
            late.add(true)
          } catch {
            late.add(false)
          }
          ended.open()
        }
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    try await fixture.drain()
    release.open()
    await ended.wait()
    #expect(late.all == [false])
    #expect(try fixture.coins("bob") == nil)
    await fixture.close()
  }

  /// What holds a run up, and what lets it go in the end.
  enum Hang: String, Sendable, CaseIterable {
    case sleeping
    case spinning
  }

  @Test(arguments: Hang.allCases) func aRunThatDoesNotComeBackIsAbandonedAndHasNoEffect(_ hang: Hang) async throws {
    let mayEnd = Atomic(false), started = Latch(), release = Latch(), ended = Latch()
    let options = FunctionOptions(deadline: .seconds(5), retry: RetryPolicy(attempts: 2))
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "hang", options: options) { event, context in
        guard event.details.attempt == 1 else {
          try await context.credit(Users.coins, event.params, amount: 1, code: "second")
          return .done
        }
        defer { ended.open() }
        try await context.credit(Users.coins, event.params, amount: 50, code: "first")
        started.open()
        switch hang {
        case .sleeping: await release.wait()
        case .spinning: while !mayEnd.load(ordering: .relaxed) {}
        }
        return .done
      }
    }
    let receipt = try await fixture.set(Self.level, 1)
    await started.wait()
    fixture.clock.advance(by: 5000)
    let report = try await fixture.dispatcher.drain()
    #expect(report.unsettled.first?.lastError?.hasPrefix("timeout") == true)
    mayEnd.store(true, ordering: .relaxed)
    release.open()
    await ended.wait()
    #expect(try fixture.coins("bob") == nil)
    try await fixture.advance(by: 2000)
    try await fixture.dispatcher.settlement(of: receipt.events)
    #expect(try fixture.coins("bob") == 1)
    #expect(fixture.dispatcher.counts(of: "hang")?.timedOut == 1)
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test func fourAbandonedRunsPauseTheFunctionAndOthersGoOn() async throws {
    let started = Notes<Int>(), four = Latch(), release = Latch(), seen = Notes<String>()
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "hang", options: FunctionOptions(deadline: .seconds(5))) { _, _ in
        started.add(1)
        if started.count == 4 { four.open() }
        await release.wait()
        return .done
      }
      functions.onWrite(Users.name, name: "fine") { event, _ in
        seen.add(event.params.text)
        return .done
      }
    }
    for user in 0..<6 { try await fixture.set(Path(parsing: "/users/u\(user)/level"), 1) }
    await four.wait()
    #expect(fixture.dispatcher.unhealthyReasons.isEmpty)
    fixture.clock.advance(by: 5000)
    let report = try await fixture.drain()
    #expect(report.unsettled.count == 6)
    #expect(Set(report.unsettled.map(\.state)) == [.paused])
    #expect(fixture.dispatcher.unhealthyReasons.first?.contains("did not come back") == true)
    try await fixture.set("/users/bob/name", "Bob")
    try await fixture.drain()
    #expect(seen.all == ["bob"])
    release.open()
    await fixture.close()
  }

  @Test func permanentFailuresAreDeadAtOnceAndRetryLaterWaitsAsLongAsItSays() async throws {
    let attempts = Notes<Int>()
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "permanent") { _, _ in throw PermanentError("no such game") }
      functions.onWrite(Users.name, name: "later") { event, _ in
        attempts.add(event.details.attempt)
        if event.details.attempt == 1 { throw RetryLater(after: .seconds(90), "busy") }
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    try await fixture.set("/users/bob/name", "Bob")
    try await fixture.drain()
    #expect(try fixture.deliveries(.dead).map(\.lastError) == ["no such game"])
    try await fixture.advance(by: 89_999)
    #expect(attempts.all == [1])
    try await fixture.advance(by: 1)
    #expect(attempts.all == [1, 2])
    await fixture.close()
  }
}
