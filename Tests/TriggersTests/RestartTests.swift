import StorageSQLite
import RewardModel
import FunctionsKit
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import Triggers

/// What a restart finds, and what administrators can do.
struct RestartTests {
  static let level: Path = "/users/bob/level"

  private static func pay(_ functions: Functions) { pay(functions, name: "pay") }

  private static func pay(_ functions: Functions, name: String, formerly: [String] = []) {
    functions.onWrite(Users.level, name: name, options: FunctionOptions(formerly: formerly)) { event, context in
      try await context.credit(Users.coins, event.params, amount: 50, code: "level")
      return .done
    }
  }

  @Test func whatWasCommittedAndNotRunIsRunOnceAfterARestart() async throws {
    let folder = TemporaryFolder()
    let first = try await TriggerFixture(folder: folder, runs: false, Self.pay)
    for user in 0..<20 { try await first.set(Path(parsing: "/users/u\(user)/level"), 1) }
    await first.close()
    for _ in 0..<3 {
      let again = try await TriggerFixture(folder: folder, Self.pay)
      try await again.drain()
      for user in 0..<20 { #expect(try again.coins("u\(user)") == 50) }
      try again.checkInvariants()
      await again.close()
    }
  }

  @Test func aRetryThatWaitsIsTakenUpAfterARestart() async throws {
    let folder = TemporaryFolder()
    let register: @Sendable (Functions) -> Void = { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        try await context.credit(Users.coins, event.params, amount: 50, code: "level \(event.after ?? 0)")
        if event.details.attempt == 1, event.after == 1 { throw Broken("first") }
        return .done
      }
    }
    let first = try await TriggerFixture(folder: folder, register)
    try await first.set(Self.level, 1)
    try await first.set(Self.level, 2)
    try await first.drain()
    // The second waits behind the first, with a record of its own.
    #expect(try first.deliveries(.waiting).count == 2)
    await first.close()
    let again = try await TriggerFixture(folder: folder, clock: first.clock, register)
    #expect(again.report.waiting == 2)
    try await again.drain()
    #expect(try again.coins("bob") == nil)
    try await again.advance(by: 1200)
    #expect(try again.coins("bob") == 100)
    #expect(try again.entries().map(\.transfer.code) == ["level 1", "level 2"])
    #expect(try again.deliveries(.waiting).isEmpty)
    try again.checkInvariants()
    await again.close()
  }

  @Test func aNewFunctionDoesNotSeeWhatWasThereBefore() async throws {
    let folder = TemporaryFolder()
    let watch: @Sendable (Functions) -> Void = { functions in
      functions.onWrite(Users.level, name: "watch") { _, _ in .done }
    }
    let first = try await TriggerFixture(folder: folder, runs: false, watch)
    try await first.set(Self.level, 1)
    await first.close()
    let again = try await TriggerFixture(folder: folder) { functions in
      watch(functions)
      Self.pay(functions)
    }
    #expect(again.report.new == ["pay"])
    try await again.drain()
    #expect(try again.coins("bob") == nil)
    #expect(again.dispatcher.counts(of: "watch")?.done == 1)
    try await again.set(Self.level, 2)
    try await again.drain()
    #expect(try again.coins("bob") == 50)
    await again.close()
  }

  @Test func aRenamedFunctionDoesNotRepeatWhatItDidUnderItsOldName() async throws {
    let folder = TemporaryFolder()
    let first = try await TriggerFixture(folder: folder, Self.pay)
    let event = try await first.set(Self.level, 1).events[0]
    try await first.drain()
    // Leaves the settled revision behind, as a crash would.
    await first.close()
    let again = try await TriggerFixture(folder: folder) { Self.pay($0, name: "reward", formerly: ["pay"]) }
    #expect(again.report.new.isEmpty)
    #expect(again.report.missing.isEmpty)
    try await again.drain()
    try again.dispatcher.redeliver(event.id, in: again.namespace)
    try await again.drain()
    #expect(try again.coins("bob") == 50)
    await again.close()
  }

  /// Data in which an event waits that `pay` has failed over.
  private func leaveAFailedEvent() async throws -> TemporaryFolder {
    let folder = TemporaryFolder()
    let first = try await TriggerFixture(folder: folder) { functions in
      functions.onWrite(Users.level, name: "pay") { _, _ in throw Broken("always") }
    }
    try await first.set(Self.level, 1)
    try await first.drain()
    await first.close()
    return folder
  }

  @Test func aMissingFunctionsEventsBecomeDeadLettersAndItsReturnCanRunThem() async throws {
    let folder = try await leaveAFailedEvent()
    let without = try await TriggerFixture(folder: folder) { _ in }
    #expect(without.report.missing == ["pay"])
    #expect(without.report.deadLetters == 1)
    #expect(try without.deliveries(.dead).first?.lastError.hasPrefix("unknown_function") == true)
    await without.close()
    let again = try await TriggerFixture(folder: folder, Self.pay)
    #expect(try await again.dispatcher.retryDeadLetters(in: again.namespace) == 1)
    try await again.drain()
    #expect(try again.coins("bob") == 50)
    #expect(try again.deliveries(.dead).isEmpty)
    try again.checkInvariants()
    await again.close()
  }

  @Test func theDeadLettersOfAMissingFunctionCanBeTriedAgainUnderItsNewName() async throws {
    let folder = try await leaveAFailedEvent()
    let without = try await TriggerFixture(folder: folder) { _ in }
    #expect(try without.deliveries(.dead).map(\.function) == ["pay"])
    await without.close()
    let again = try await TriggerFixture(folder: folder) { Self.pay($0, name: "reward", formerly: ["pay"]) }
    #expect(try again.deliveries(.dead).map(\.function) == ["reward"])
    #expect(try await again.dispatcher.retryDeadLetters(in: again.namespace, of: "reward") == 1)
    try await again.drain()
    #expect(try again.coins("bob") == 50)
    #expect(try again.deliveries(.dead).isEmpty)
    try again.checkInvariants()
    await again.close()
  }

  @Test func whatWasPaidIsNoDeadLetterWhenItsFunctionFailsOverItLater() async throws {
    let folder = TemporaryFolder()
    let first = try await TriggerFixture(folder: folder, Self.pay)
    let event = try await first.set(Self.level, 1).events[0]
    try await first.drain()
    await first.close()
    let again = try await TriggerFixture(folder: folder) { functions in
      functions.onWrite(Users.level, name: "pay") { _, _ in throw PermanentError("no such currency") }
    }
    try again.dispatcher.redeliver(event.id, in: again.namespace)
    try await again.drain()
    #expect(try again.deliveries(.dead).isEmpty)
    #expect(again.dispatcher.counts(of: "pay")?.alreadyDone == 1)
    // One that an older version left behind can be put away, and others with it.
    var letter = CommitRequest(namespace: again.namespace, actor: .system("triggers"))
    letter.triggers.deliveries = [
      DeliveryRecord(
        event: event.id, kind: .created, hop: 0, function: "pay", state: .dead, attempts: 1, crashes: 0, nextAttemptAt: 0,
        lastError: "no such currency", updatedAt: 0)
    ]
    _ = try await again.database.commit(letter)
    try await again.set("/users/eve/level", 1)
    try await again.drain()
    #expect(try await again.dispatcher.acknowledgeDeadLetters(in: again.namespace) == 2)
    #expect(try again.deliveries(.dead).isEmpty)
    #expect(try again.coins("bob") == 50)
    try again.checkInvariants()
    await again.close()
  }

  @Test func theSettledRevisionFollowsAndARestartReadsOnlyWhatIsBehindIt() async throws {
    let folder = TemporaryFolder()
    let first = try await TriggerFixture(folder: folder, Self.pay)
    for user in 0..<50 { try await first.set(Path(parsing: "/users/u\(user)/level"), 1) }
    try await first.drain()
    await first.close()
    let again = try await TriggerFixture(folder: folder, runs: false, Self.pay)
    let (settled, last) = try again.engine.read { (snapshot) throws(StorageError) in
      (
        try snapshot.settledRevision(of: again.namespace),
        try snapshot.events(in: again.namespace, before: nil, limit: 1).first?.id.revision
      )
    }
    #expect(settled == last)
    await again.close()
  }

  @Test func aPausedFunctionKeepsItsEventsInOrderAlsoOverARestart() async throws {
    let folder = TemporaryFolder()
    let seen = Notes<Int64>()
    let watch: @Sendable (Functions) -> Void = { functions in
      functions.onWrite(Users.level, name: "watch") { event, _ in
        seen.add(event.after ?? 0)
        return .done
      }
    }
    let first = try await TriggerFixture(folder: folder, watch)
    try await first.dispatcher.pause("watch", because: "maintenance")
    for value in 1...5 { try await first.set(Self.level, .leaf(.int(Int64(value)))) }
    let report = try await first.drain()
    #expect(report.unsettled.map(\.state) == [.paused, .paused, .paused, .paused, .paused])
    #expect(first.dispatcher.unhealthyReasons.isEmpty)
    #expect(first.dispatcher.functions.first?.pauseReason == "maintenance")
    await first.close()
    let again = try await TriggerFixture(folder: folder, watch)
    #expect(again.report.paused == ["watch"])
    try await again.set(Self.level, 6)
    try await again.drain()
    #expect(seen.all.isEmpty)
    try await again.dispatcher.resume("watch")
    try await again.set(Self.level, 7)
    try await again.drain()
    #expect(seen.all == [1, 2, 3, 4, 5, 6, 7])
    #expect(try again.deliveries(.paused).isEmpty)
    try again.checkInvariants()
    await again.close()
  }

  @Test func anAcknowledgedDeadLetterIsNeverRunAgain() async throws {
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "pay") { _, _ in throw PermanentError("no") }
    }
    let event = try await fixture.set(Self.level, 1).events[0]
    try await fixture.drain()
    #expect(try await fixture.dispatcher.acknowledgeDeadLetters(in: fixture.namespace, event: event.id) == 1)
    #expect(try fixture.deliveries(.dead).isEmpty)
    #expect(try fixture.executions().map(\.reason) == ["acknowledged"])
    #expect(try await fixture.dispatcher.retryDeadLetters(in: fixture.namespace) == 0)
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test func aRunThatKillsTheProcessThreeTimesIsADeadLetterAndItsFunctionPaused() async throws {
    let folder = TemporaryFolder()
    let first = try await TriggerFixture(folder: folder, runs: false, Self.pay)
    let event = try await first.set(Self.level, 1).events[0]
    await first.close()
    for crash in 1...3 {
      // What a process leaves that dies during the run.
      let notes = try CrashNotes(path: folder.file("crash-notes"))
      notes.write(CrashNote(namespace: first.namespace, event: event.id, function: "pay", isAlone: true), to: 5)
      let again = try await TriggerFixture(folder: folder, runs: false, Self.pay)
      #expect(again.report.crashed == ["pay \(event.id)"])
      #expect(try again.deliveries(crash == 3 ? .dead : .waiting).map(\.crashes) == [crash])
      #expect(again.report.paused == (crash == 3 ? ["pay"] : []))
      #expect(again.dispatcher.unhealthyReasons.isEmpty == (crash < 3))
      await again.close()
    }
    let last = try await TriggerFixture(folder: folder, Self.pay)
    try await last.drain()
    #expect(try last.coins("bob") == nil)
    try await last.dispatcher.resume("pay")
    _ = try await last.dispatcher.retryDeadLetters(in: last.namespace)
    try await last.drain()
    #expect(try last.coins("bob") == 50)
    try last.checkInvariants()
    await last.close()
  }

  @Test func aFullMemoryReadsItsEventsFromStorage() async throws {
    var options = DispatcherOptions()
    options.eventsMax = 10
    options.eventsLow = 5
    let gate = Latch(), seen = Notes<Int64>()
    let fixture = try await TriggerFixture(options: options) { functions in
      functions.onWrite(Users.level, name: "watch") { event, _ in
        await gate.wait()
        seen.add(event.after ?? 0)
        return .done
      }
    }
    for value in 1...200 { try await fixture.set(Self.level, .leaf(.int(Int64(value)))) }
    gate.open()
    try await fixture.drain()
    #expect(seen.all == Array(1...200))
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test func aDrainThatTakesTooLongNamesWhatItWaitsFor() async throws {
    let waitClock = AdjustableClock(frozenAt: 0), gate = Latch(), started = Latch()
    var options = DispatcherOptions()
    options.waitClock = waitClock
    let fixture = try await TriggerFixture(options: options) { functions in
      functions.onWrite(Users.level, name: "slow") { _, _ in
        started.open()
        await gate.wait()
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    await started.wait()
    let drained = Task { try await fixture.dispatcher.drain(timeout: .seconds(10)) }
    while waitClock.sleeperCount == 0 { await Task.yield() }
    waitClock.advance(by: 10_000)
    let timeout = await #expect(throws: DrainTimeout.self) { try await drained.value }
    #expect(timeout?.unsettled.map(\.function) == ["slow"])
    #expect(timeout?.unsettled.map(\.state) == [.running])
    gate.open()
    await fixture.close()
  }
}
