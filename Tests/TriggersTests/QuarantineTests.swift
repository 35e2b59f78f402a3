import FunctionsKit
import Glibc
import StorageCore
import Synchronization
import TestSupport
import Testing
import TreeModel
@testable import Triggers

/// Who is to blame for a death of the process.
struct QuarantineTests {
  private static func pay(_ functions: Functions) {
    functions.onWrite(Users.level, name: "pay") { event, context in
      try await context.credit(Users.coins, event.params, amount: 50, code: "level")
      return .done
    }
  }

  @Test func beingThereWhenTheProcessIsKilledCostsNothingHoweverOften() async throws {
    let folder = TemporaryFolder()
    let first = try await TriggerFixture(folder: folder, runs: false, Self.pay)
    let ann = try await first.set("/users/ann/level", 1).events[0]
    let bob = try await first.set("/users/bob/level", 1).events[0]
    await first.close()
    for _ in 1...5 {
      let notes = try CrashNotes(path: folder.file("crash-notes"))
      notes.write(CrashNote(namespace: first.namespace, event: ann.id, function: "pay"), to: 0)
      notes.write(CrashNote(namespace: first.namespace, event: bob.id, function: "pay"), to: 1)
      let again = try await TriggerFixture(folder: folder, runs: false, Self.pay)
      #expect(again.report.crashed.isEmpty)
      #expect(again.report.suspects.count == 2)
      #expect(try again.deliveries(.waiting).map(\.crashes) == [0, 0])
      #expect(try again.deliveries(.waiting).map(\.attempts) == [0, 0])
      await again.close()
    }
    let last = try await TriggerFixture(folder: folder, Self.pay)
    try await last.drain()
    #expect(try last.coins("ann") == 50)
    #expect(try last.coins("bob") == 50)
    try last.checkInvariants()
    await last.close()
  }

  @Test func aSuspectRunsAloneAndEverythingElseAfterIt() async throws {
    let folder = TemporaryFolder()
    let gate = Latch(), started = Latch(), seen = Notes<String>()
    let register: @Sendable (Functions) -> Void = { functions in
      functions.onWrite(Users.level, name: "watch") { event, _ in
        seen.add("begin \(event.params)")
        if event.params == "bob" {
          started.open()
          await gate.wait()
        }
        seen.add("end \(event.params)")
        return .done
      }
    }
    let first = try await TriggerFixture(folder: folder, runs: false, register)
    try await first.set("/users/ann/level", 1)
    let bob = try await first.set("/users/bob/level", 1).events[0]
    await first.close()
    CrashNotesTests.leave(CrashNote(namespace: first.namespace, event: bob.id, function: "watch"), in: folder)
    let again = try await TriggerFixture(folder: folder, register)
    await started.wait()
    try await again.set("/users/eve/level", 1)
    // What is noted now says that nothing else runs.
    #expect(try CrashNotes(path: folder.file("crash-notes")).read().map(\.isAlone) == [true])
    gate.open()
    try await again.drain()
    #expect(Array(seen.all.prefix(2)) == ["begin bob", "end bob"])
    #expect(Set(seen.all) == ["begin bob", "end bob", "begin ann", "end ann", "begin eve", "end eve"])
    await again.close()
  }

  @Test func behindAFailingEventMemoryHoldsOnlySoManyAndNothingIsLost() async throws {
    var options = DispatcherOptions()
    options.behindMax = 4
    let seen = Notes<Int64>()
    let register: @Sendable (Functions) -> Void = { functions in
      functions.onWrite(Users.level, name: "watch") { event, _ in
        if event.after == 1, event.details.attempt < 3 { throw Broken("not yet") }
        seen.add(event.after ?? 0)
        return .done
      }
    }
    let folder = TemporaryFolder()
    let first = try await TriggerFixture(folder: folder, options: options, register)
    for value in 1...12 { try await first.set("/users/bob/level", .leaf(.int(Int64(value)))) }
    try await first.drain()
    for value in 13...24 { try await first.set("/users/bob/level", .leaf(.int(Int64(value)))) }
    try await first.drain()
    #expect(first.dispatcher.state.withLock { state in state.queue.backlogs.values.map(\.waiting.count).max() ?? 0 } <= 4)
    #expect(try first.deliveries(.waiting).count == 24)
    await first.close()
    let again = try await TriggerFixture(folder: folder, clock: first.clock, options: options, register)
    try await again.set("/users/bob/level", 25)
    for _ in 0..<5 { try await again.advance(by: 10_000) }
    for _ in 0..<1000 where seen.count < 25 { try await again.drain() }
    try await again.drain()
    #expect(seen.all == Array(1...25))
    #expect(try again.deliveries(.waiting).isEmpty)
    try again.checkInvariants()
    await again.close()
  }

  @Test func resumingReadsWhatWasKeptPageByPageAndLosesNothingThatComesMeanwhile() async throws {
    let seen = Notes<String>()
    let fixture = try await TriggerFixture { functions in
      functions.onWrite(Users.level, name: "watch") { event, _ in
        seen.add(event.params.text)
        return .done
      }
    }
    try await fixture.dispatcher.pause("watch", because: "maintenance")
    for batch in 0..<2 {
      let assignments = try (0..<700).map { player in
        WriteOperation.Assignment(path: try Path(parsing: "/users/\(batch)-\(player)/level"), value: .node(WriteNode(1)))
      }
      try await fixture.write(.update(.root, assignments))
    }
    try await fixture.drain()
    #expect(try fixture.deliveries(.paused).count == 1400)
    async let resumed: Void = fixture.dispatcher.resume("watch")
    for late in 0..<20 { try await fixture.set(Path(parsing: "/users/late\(late)/level"), 1) }
    try await resumed
    try await fixture.drain()
    #expect(seen.count == 1420)
    #expect(Set(seen.all).count == 1420)
    #expect(try fixture.deliveries(.paused).isEmpty)
    try fixture.checkInvariants()
    await fixture.close()
  }
}

struct CrashNotesTests {
  /// What a process leaves that dies during a run.
  static func leave(_ note: CrashNote, in folder: TemporaryFolder) {
    try? CrashNotes(path: folder.file("crash-notes")).write(note, to: 0)
  }

  private func note(_ path: Path, _ function: String = "pay") -> CrashNote {
    CrashNote(
      namespace: NamespaceID(rawValue: 3), event: EventID(epoch: 2, revision: Revision(77), path: PathBytes(path)),
      function: function)
  }

  @Test(arguments: [
    "/", "/users/bob/level", "/users/ключ/😀/00/-5",
    Path(keys: (0..<32).map { _ in Key(unchecked: String(repeating: "k", count: 768)) }),
  ])
  func aNoteIsReadAsItWasWritten(path: Path) throws {
    let folder = TemporaryFolder()
    do {
      let notes = try CrashNotes(path: folder.file("notes"))
      notes.write(note(path), to: 63)
      notes.write(note("/other", "fonction é"), to: 0)
      notes.write(note("/cleared"), to: 1)
      notes.clear(1)
    }
    let again = try CrashNotes(path: folder.file("notes"))
    #expect(again.read() == [note("/other", "fonction é"), note(path)])
    again.clearAll()
    #expect(again.read().isEmpty)
  }

  @Test func theDiskHasRoomForEveryNoteBeforeTheFirstIsWritten() throws {
    let folder = TemporaryFolder()
    _ = try CrashNotes(path: folder.file("notes"))
    var status = stat()
    // Blocks are of 512 bytes, whatever the disk's are. A page without one would be a bus error on a full disk.
    #expect(stat(folder.file("notes"), &status) == 0 && Int(status.st_blocks) * 512 >= Int(status.st_size))
  }

  @Test func damagedNotesAreLeftOut() {
    let bytes = note("/a").bytes
    for count in 0..<32 { #expect(CrashNote(Array(bytes.prefix(count))) == nil) }
    var wrong = bytes
    wrong[31] = 0x7F
    #expect(CrashNote(wrong) == nil)
  }

  @Test func aFolderThatIsNotThereIsAnErrorThatSaysWhere() {
    #expect(throws: StorageError.self) { try CrashNotes(path: "/nonexistent/notes") }
  }
}
