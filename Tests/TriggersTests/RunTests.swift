import FunctionsKit
import RewardModel
import StorageCore
import StorageSQLite
import Synchronization
import TestSupport
import Testing
import TreeDatabase
import TreeModel
@testable import Triggers

/// Runs, effects and what can go wrong with them.
struct RunTests {
  static let level: Path = "/users/bob/level"

  private static func pay(_ functions: Functions, order: FunctionOptions.Order = .perKey) {
    functions.onUpdate(Users.level, name: "pay", options: FunctionOptions(order: order)) { event, context in
      try await context.credit(Users.coins, event.params, amount: 50, code: "level")
      return .done
    }
  }

  @Test func anEffectIsCommittedOnceWithItsRecord() async throws {
    let fixture = try await TriggerFixture { Self.pay($0) }
    try await fixture.set(Self.level, 4)
    let receipt = try await fixture.set(Self.level, 5)
    try await fixture.dispatcher.settlement(of: receipt.events)
    #expect(try fixture.coins("bob") == 50)
    let executions = try fixture.executions()
    #expect(executions.count == 1)
    #expect(executions.first?.outcome == .done)
    #expect(executions.first?.effect == receipt.revision.next)
    let entry = try #require(try fixture.entries().first)
    #expect(entry.transfer.debit == .issuance("level"))
    #expect(entry.transfer.key.text == "\(receipt.events[0].id)/pay/level")
    #expect(entry.transfer.function == "pay")
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test func theSameEventDeliveredAHundredTimesPaysOnce() async throws {
    let fixture = try await TriggerFixture { Self.pay($0) }
    try await fixture.set(Self.level, 4)
    let event = try await fixture.set(Self.level, 5).events[0]
    for _ in 0..<100 { try fixture.dispatcher.redeliver(event.id, in: fixture.namespace) }
    try await fixture.drain()
    #expect(try fixture.coins("bob") == 50)
    #expect(fixture.dispatcher.counts(of: "pay")?.done == 1)
    #expect(fixture.dispatcher.counts(of: "pay")?.alreadyDone == 100)
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test func twoRunsThatRaceEndAsDoneAndAlreadyDone() async throws {
    let both = Latch(), arrived = Notes<Int>()
    let fixture = try await TriggerFixture { functions in
      functions.onUpdate(Users.level, name: "pay", options: FunctionOptions(order: .unordered)) { event, context in
        arrived.add(1)
        if arrived.count == 2 { both.open() }
        await both.wait()
        try await context.credit(Users.coins, event.params, amount: 50, code: "level")
        return .done
      }
    }
    try await fixture.set(Self.level, 4)
    let event = try await fixture.set(Self.level, 5).events[0]
    try fixture.dispatcher.redeliver(event.id, in: fixture.namespace)
    try await fixture.drain()
    let counts = try #require(fixture.dispatcher.counts(of: "pay"))
    #expect(counts.done == 1)
    #expect(counts.alreadyDone == 1)
    #expect(try fixture.coins("bob") == 50)
    await fixture.close()
  }

  @Test func throwingTwiceAndThenSucceedingPaysAtTheThirdAttempt() async throws {
    let attempts = Notes<Int>()
    let fixture = try await TriggerFixture { functions in
      functions.onUpdate(Users.level, name: "pay") { event, context in
        attempts.add(event.details.attempt)
        try await context.credit(Users.coins, event.params, amount: 50, code: "level")
        if event.details.attempt < 3 { throw Broken("not yet") }
        return .done
      }
    }
    try await fixture.set(Self.level, 4)
    try await fixture.set(Self.level, 5)
    let report = try await fixture.drain()
    #expect(report.unsettled.map(\.state) == [.waiting])
    #expect(report.unsettled.first?.lastError == "not yet")
    try await fixture.advance(by: 1200)
    try await fixture.advance(by: 2400)
    #expect(attempts.all == [1, 2, 3])
    #expect(try fixture.coins("bob") == 50)
    #expect(try fixture.executions().map(\.attempt) == [3])
    let failures = try fixture.failedAttempts()
    #expect(failures.map(\.attempt) == [1, 2])
    #expect(failures.allSatisfy { $0.error == "not yet" && $0.function == "pay" && $0.startedAt != nil })
    #expect(try fixture.deliveries(.waiting).isEmpty)
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test func alwaysThrowingIsADeadLetterAtTheLimitAndOtherKeysGoOn() async throws {
    let seen = Notes<String>()
    let retry = RetryPolicy(attempts: 3, base: .seconds(1))
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "pay", options: FunctionOptions(retry: retry)) { event, _ in
        seen.add("\(event.params.text) \(event.after ?? 0)")
        if event.params.text == "bob", event.after == 1 { throw Broken("never") }
        return .done
      }
    }
    try await fixture.set("/users/bob/level", 1)
    try await fixture.set("/users/bob/level", 2)
    try await fixture.set("/users/eve/level", 1)
    try await fixture.dispatcher.settlement(of: [try #require(try fixture.events().last)])
    #expect(seen.all.sorted() == ["bob 1", "eve 1"])
    await fixture.advanceRetries(3)
    try await fixture.drain()
    #expect(seen.all.filter { $0 == "bob 1" }.count == 3)
    #expect(seen.all.last == "bob 2")
    let dead = try fixture.deliveries(.dead)
    #expect(dead.map(\.attempts) == [3])
    #expect(dead.map(\.lastError) == ["never"])
    await fixture.close()
  }

  @Test func eventsOfOneKeyRunInOrderOthersAtOnce() async throws {
    let seen = Mutex<[String: [Int64]]>([:])
    var options = DispatcherOptions()
    options.runnerCount = 64
    let fixture = try await TriggerFixture(options: options) { functions in
      functions.onWrite(Users.level, name: "watch") { event, _ in
        await Task.yield()
        seen.withLock { $0[event.params.text, default: []].append(event.after ?? 0) }
        return .done
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for user in 0..<8 {
        group.addTask {
          for value in 1...40 { try await fixture.set(Path(parsing: "/users/u\(user)/level"), .leaf(.int(Int64(value)))) }
        }
      }
      try await group.waitForAll()
    }
    try await fixture.drain()
    for (user, values) in seen.withLock(\.self) { #expect(values == Array(1...40), "\(user)") }
    await fixture.close()
  }

  @Test func aChainOfFunctionsEndsAtTheHopLimit() async throws {
    var limits = WriteLimits()
    limits.hopsMax = 3
    let fixture = try await TriggerFixture(limits: limits) { functions in
      functions.onWrite(Users.counter, name: "again") { event, context in
        try await context.set(Users.counter, to: (event.after ?? 0) + 1)
        return .done
      }
    }
    try await fixture.set("/counter", 1)
    try await fixture.drain()
    // Hops 0 to 3 run; the effect of the last commits, and its event is a dead letter.
    #expect(try fixture.node("/counter").scalar == 5)
    let dead = try #require(try fixture.deliveries(.dead).first)
    #expect(dead.lastError.hasPrefix("hop limit"))
    #expect(dead.lastError.contains("again for 1-1:/counter"))
    #expect(try fixture.executions().count == 4)
    await fixture.close()
  }

  @Test func settlementWaitsForWhatAnEventCauses() async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "first") { event, context in
        try await context.set(Users.name, event.params, to: "level \(event.after ?? 0)")
        return .done
      }
      functions.onWrite(Users.name, name: "second") { event, context in
        try await context.set(Users.log, event.params, to: "named \(event.after ?? "")")
        return .done
      }
    }
    for value in 1...20 {
      let receipt = try await fixture.set(Self.level, .leaf(.int(Int64(value))))
      try await fixture.dispatcher.settlement(of: receipt.events)
      #expect(try fixture.node("/log/bob").scalar == .string("named level \(value)"))
    }
    await fixture.close()
  }

  @Test func skippedRunsLeaveARecordAndNoChange() async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "watch") { event, context in
        try await context.set(Users.log, event.params, to: "dropped")
        return .skipped("nothing_to_do")
      }
    }
    let receipt = try await fixture.set(Self.level, 1)
    try await fixture.drain()
    let execution = try #require(try fixture.executions().first)
    #expect(execution.outcome == .skipped)
    #expect(execution.reason == "nothing_to_do")
    #expect(execution.effect == nil)
    #expect(try !fixture.node("/log").exists)
    #expect(try await fixture.write(.remove("/nothing")).revision == receipt.revision)
    await fixture.close()
  }

  @Test func aBusinessKeyIsPaidOnceAndTheSecondRunNamesTheFirst() async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        try await context.credit(Users.coins, event.params, amount: 50, code: "level", once: "level/\(event.params)")
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    let first = try fixture.events()[0]
    try await fixture.set(Self.level, 2)
    try await fixture.drain()
    #expect(try fixture.coins("bob") == 50)
    let skipped = try #require(try fixture.executions().first { $0.outcome == .skipped })
    #expect(skipped.reason == "already_paid: entry 1 of \(first.id)")
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test func aPaymentThatWasMadeBeforeIsLeftOutWhereTheRunSaysSo() async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        try await context.credit(Users.coins, event.params, amount: 10, code: "level", once: "level/\(event.params)")
        return .done
      }
      functions.onWrite(Users.name, name: "all") { _, context in
        for player in ["ann", "bob", "eve"] as [UserID] {
          try await context.credit(
            Users.coins, player, amount: 10, code: "level", once: "level/\(player)", ifPaid: .leaveOut)
        }
        return .done
      }
    }
    try await fixture.set("/users/bob/level", 1)
    try await fixture.drain()
    try await fixture.set("/users/zoe/name", "Zoe")
    try await fixture.drain()
    #expect(try ["ann", "bob", "eve"].map { try fixture.coins($0) } == [10, 10, 10])
    #expect(try fixture.executions().filter { $0.function == "all" }.map(\.outcome) == [.done])
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test func aLateTransactionThatRestsOnAWriteThatIsTooLateIsWithheldWithIt() async throws {
    let attempts = Notes<Int>()
    let points = TreePath<Int64, UserID>("/season/{uid}/points")
    let season = TreePath<[String: Int64], UserID>("/season/{uid}")
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "begin") { event, context in
        attempts.add(1)
        if attempts.count == 1 { throw Broken("once") }
        try await context.set(season, event.params, to: ["points": 0])
        try await context.transaction(points, event.params) { ($0 ?? 0) + 10 }
        return .done
      }
    }
    try await fixture.set("/users/bob/level", 1)
    try await fixture.drain()
    try await fixture.set("/season/bob/points", 40)
    try await fixture.advance(by: 60_000)
    #expect(attempts.count == 2)
    #expect(try fixture.node("/season/bob/points") == 40)
    #expect(try fixture.executions().first?.reason?.hasPrefix("stale: /season/bob") == true)
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test func aDebitWithoutFundsIsSkipped() async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "charge") { event, context in
        try await context.debit(Users.coins, event.params, amount: 10, code: "entry")
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    try await fixture.drain()
    #expect(try fixture.executions().map(\.reason) == ["insufficient_funds"])
    #expect(try fixture.coins("bob") == nil)
    await fixture.close()
  }

  @Test func aTransactionIsRepeatedOnTheNewValue() async throws {
    // Where the disk is slow all of them read the same value, and one of them is right in each round.
    let fixture = try await TriggerFixture(options: DispatcherOptions(rerunsMax: 30)) { functions in
      functions.onWrite(Users.level, name: "count", options: FunctionOptions(order: .unordered)) { event, context in
        try await context.transaction(Users.counter) { ($0 ?? 0) + 1 }
        return .done
      }
    }
    for user in 0..<30 { try await fixture.set(Path(parsing: "/users/u\(user)/level"), 1) }
    try await fixture.drain()
    let counts = try #require(fixture.dispatcher.counts(of: "count"))
    #expect(counts.done == 30)
    #expect(try fixture.node("/counter").scalar == 30)
    await fixture.close()
  }

  @Test func decisionReadsSeeTheTreeAtTheEventsCommit() async throws {
    let gate = Latch(), seen = Notes<String?>()
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "read") { event, context in
        await gate.wait()
        seen.add(try await context.get(Users.name, event.params))
        return .done
      }
    }
    try await fixture.set("/users/bob/name", "before")
    try await fixture.set(Self.level, 1)
    try await fixture.set("/users/bob/name", "after")
    gate.open()
    try await fixture.drain()
    #expect(seen.all == ["before"])
    await fixture.close()
  }
}

extension TriggerFixture {
  /// Moves the clock over that many retries; each may cause the next.
  func advanceRetries(_ count: Int) async {
    for _ in 0..<count {
      clock.advance(by: 700_000)
      _ = try? await drain()
    }
  }
}

@Suite struct LargeEffectTests {
  @Test("A commit's entries are all found, be they more than one look takes")
  func entries() async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "party") { _, context in
        for number in 0..<1_001 {
          try await context.credit(Users.coins, try #require(UserID("p\(number)")), amount: 1, code: "party")
        }
        return .done
      }
    }
    try await fixture.set("/users/bob/level", 7)
    try await fixture.drain()
    let effect = try #require(try fixture.executions().first?.effect)
    let found = try fixture.engine.read { (snapshot) throws(StorageError) in
      try snapshot.entries(in: fixture.namespace, of: effect)
    }
    #expect(found.count == 1_001 && Set(found.map(\.sequence)).count == 1_001)
    await fixture.close()
  }
}
