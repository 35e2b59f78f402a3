import StorageCore
import Synchronization
import Testing
import TreeModel

@testable import StorageSQLite

@Suite("Writing ahead of the disk")
struct FlushTests {
  let folder = TemporaryFolder()

  @Test("A read that may have seen an unflushed batch is given out when the disk has it, and no sooner")
  func heldBack() throws {
    let engine = try SQLiteEngine(directory: folder.path, options: tinyOptions)
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.session.commit()
    let told = Mutex<[Int]>([])
    let before = try engine.readAhead { try $0.value(in: committer.ns, "/a") }
    engine.whenDurable(before.position) { _ in told.withLock { $0.append(1) } }
    #expect(told.withLock { $0 } == [1], "Nothing is in flight, so nothing is waited for.")

    try committer.put("/a", 2)
    try committer.session.write()
    let ahead = try engine.readAhead { try $0.value(in: committer.ns, "/a") }
    #expect(ahead.result == 2)
    engine.whenDurable(ahead.position) { _ in told.withLock { $0.append(2) } }
    engine.whenDurable(before.position) { _ in told.withLock { $0.append(3) } }
    #expect(told.withLock { $0 } == [1, 3])
    try committer.session.flush()
    #expect(told.withLock { $0 } == [1, 3, 2])
    #expect(try engine.read { try $0.value(in: committer.ns, "/a") } == 2)
    engine.close()
  }

  @Test("A batch that cannot be written holds no reader back")
  func refused() throws {
    let faults = SQLiteFaults { $0 == .beforeCommit ? StorageError(.full, "The disk is full.") : nil }
    let engine = try SQLiteEngine(folder: DataFolder(folder.path), options: tinyOptions, faults: faults)
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    #expect(throws: StorageError.self) { try committer.session.write() }
    #expect(try engine.read { try $0.value(in: committer.ns, "/a") } == nil)
    engine.close()
  }

  @Test("What waits for the disk is let go when the disk fails, and nothing is written after")
  func failed() throws {
    let faults = SQLiteFaults { $0 == .afterCommit ? StorageError(.failed, "I/O error.") : nil }
    let engine = try SQLiteEngine(folder: DataFolder(folder.path), options: tinyOptions, faults: faults)
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.session.write()
    let isTold = Mutex(false)
    engine.whenDurable(try engine.readAhead { try $0.value(in: committer.ns, "/a") }.position) { _ in
      isTold.withLock { $0 = true }
    }
    #expect(throws: StorageError.self) { try committer.session.flush() }
    #expect(isTold.withLock { $0 })
    #expect(throws: StorageError.self) { try committer.session.write() }
    engine.close()
  }
}
