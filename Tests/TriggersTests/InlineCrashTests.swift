import FunctionsKit
import StorageCore
import StorageSQLite
import Synchronization
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import Triggers

/// Processes that die in a run on the writer, or right behind it.
struct InlineCrashTests {
  static let level: Path = "/users/bob/level"

  private static func pay(_ functions: Functions) {
    functions.onWrite(Users.level, name: "pay") { event, context in
      try await context.credit(Users.coins, event.params, amount: 50, code: "level")
      return .done
    }
  }

  /// Copies the store when the process could die at a point, once.
  private final class Copier: Sendable {
    let source = TemporaryFolder()
    let parent = TemporaryFolder()
    private let place: Failpoint.Point
    private let isArmed = Atomic(true)

    init(_ place: Failpoint.Point) { self.place = place }

    /// What a process that died there leaves.
    var left: TemporaryFolder { TemporaryFolder(at: parent.file("left")) }

    func reach(_ reached: Failpoint.Point) {
      guard reached == place, isArmed.exchange(false, ordering: .relaxed) else { return }
      do { try DiskFiles.copy(folder: source.path, to: parent.file("left")) } catch { Issue.record(error) }
    }
  }

  @Test(
    "Dying between the judging of an event and its being durable loses both it and its effect; the client's retry pays once",
    arguments: [.inHandler, .effectSubmitted, .effectJudged] as [Failpoint.Point])
  func beforeDurable(place: Failpoint.Point) async throws {
    let copier = Copier(place)
    var options = DispatcherOptions.inline()
    options.failpoint = Failpoint { copier.reach($0) }
    let fixture = try await TriggerFixture.inline(folder: copier.source, options: options, Self.pay)
    try await fixture.set(Self.level, 1)
    #expect(try fixture.coins("bob") == 50)
    await fixture.close()

    let again = try await TriggerFixture.inline(folder: copier.left, Self.pay)
    #expect(try again.node(Self.level) == .absent)
    #expect(try again.coins("bob") == nil)
    #expect(try again.openDeliveries().isEmpty)
    // The note was there, of a commit that never was: nobody is to blame for an event, but the function is watched.
    #expect(again.report.suspects.isEmpty && again.report.crashed.isEmpty)
    #expect(again.report.barred.count == (place == .inHandler ? 1 : 0))
    try await again.set(Self.level, 1)
    try await again.drain()
    #expect(try again.coins("bob") == 50)
    #expect(again.inlineRuns(of: "pay") == (place == .inHandler ? 0 : 1))
    try again.checkInvariants()
    await again.close()
  }

  @Test("Dying when event and effect are durable and memory does not know it pays once")
  func afterDurable() async throws {
    let copier = Copier(.effectDurable)
    var options = DispatcherOptions.inline()
    options.failpoint = Failpoint { copier.reach($0) }
    let fixture = try await TriggerFixture.inline(folder: copier.source, options: options, Self.pay)
    try await fixture.set(Self.level, 1)
    try await fixture.drain()
    await fixture.close()
    let again = try await TriggerFixture.inline(folder: copier.left, Self.pay)
    #expect(try again.coins("bob") == 50)
    #expect(again.dispatcher.counts(of: "pay") == FunctionCounts())
    try again.checkInvariants()
    await again.close()
  }

  @Test("A function that a process died in on the writer runs on threads, until an administrator resumes it")
  func barred() async throws {
    let folder = TemporaryFolder()
    let first = try await TriggerFixture.inline(folder: folder, Self.pay)
    let event = try await first.set(Self.level, 1).events[0]
    await first.close()
    let unborn = EventID(epoch: event.id.epoch, revision: event.id.revision.next.next, path: event.id.path)
    let notes = try CrashNotes(path: folder.file("crash-notes"))
    notes.write(
      CrashNote(
        namespace: first.namespace, event: unborn, function: "pay", commitHash: [UInt8](repeating: 7, count: 32)),
      to: notes.inlineSlot)

    let again = try await TriggerFixture.inline(folder: folder, Self.pay)
    #expect(again.report.barred == ["pay \(unborn)"])
    #expect(again.report.suspects.isEmpty)
    // The client's retry gets the very revision that the note speaks of.
    #expect(try await again.set(Self.level, 2).events[0].id == unborn)
    try await again.drain()
    #expect(try again.coins("bob") == 100)
    #expect(again.inlineRuns(of: "pay") == 0)
    #expect(!again.isInline("pay"))
    try await again.dispatcher.resume("pay")
    #expect(again.isInline("pay"))
    try await again.set(Self.level, 3)
    #expect(try again.coins("bob") == 150)
    #expect(again.inlineRuns(of: "pay") == 1)
    await again.close()
  }

  @Test("A note speaks of an event only if its commit is the one that was noted", arguments: [true, false])
  func hashes(isSame: Bool) async throws {
    let folder = TemporaryFolder()
    let first = try await TriggerFixture(folder: folder, runs: false, Self.pay)
    let event = try await first.set(Self.level, 1).events[0]
    let commit = try first.engine.read { (snapshot) throws(StorageError) in
      try snapshot.commit(in: first.namespace, at: event.id.revision)
    }
    await first.close()
    let hash = try isSame ? #require(commit).hash : [UInt8](repeating: 7, count: 32)
    let note = CrashNote(namespace: first.namespace, event: event.id, function: "pay", commitHash: hash)
    let notes = try CrashNotes(path: folder.file("crash-notes"))
    notes.write(note, to: notes.inlineSlot)
    #expect(notes.read() == [note])
    let again = try await TriggerFixture(folder: folder, runs: false, Self.pay)
    #expect(again.report.suspects == (isSame ? ["pay \(event.id)"] : []))
    await again.close()
  }

  @Test("A run that computes for two seconds without using its context ends the process, with a note")
  func stall() async throws {
    let meter = TestMeter(), started = Latch(), mayEnd = Atomic(false), ended = Latch()
    let folder = TemporaryFolder()
    let messages = Notes<String>(), noted = Notes<CrashNote>()
    var options = DispatcherOptions.inline(meter: meter)
    options.inline.endProcess = { message in
      messages.add(message)
      for note in (try? CrashNotes(path: folder.file("crash-notes")).read()) ?? [] { noted.add(note) }
      mayEnd.store(true, ordering: .releasing)
      ended.open()
    }
    let fixture = try await TriggerFixture.inline(folder: folder, options: options) { functions in
      functions.onWrite(Users.level, name: "spin") { _, _ in
        started.open()
        while !mayEnd.load(ordering: .acquiring) {}
        return .done
      }
    }
    async let receipt = fixture.set(Self.level, 1)
    await started.wait()
    // Two seconds of the clock alone are not enough: somebody may have moved it.
    fixture.clock.advance(by: 2000)
    fixture.dispatcher.fireTimers()
    #expect(messages.count == 0)
    meter.advance(by: 2_000_000)
    fixture.clock.advance(by: 2000)
    await ended.wait()
    #expect(messages.all.first?.contains("2000 ms") == true)
    #expect(noted.all.map(\.function) == ["spin"] && noted.all.allSatisfy(\.isInline))
    _ = try await receipt
    await fixture.close()
  }
}
