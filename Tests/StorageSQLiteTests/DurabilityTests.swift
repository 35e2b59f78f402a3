import StorageCore
import Synchronization
import Testing
import TreeModel

@testable import StorageSQLite

@Suite("Durability")
struct DurabilityTests {
  let folder = TemporaryFolder()

  @Test("Files copied after a commit, as a killed process leaves them, hold everything that was committed")
  func killed() throws {
    let engine = try SQLiteEngine(directory: folder.file("data"), options: tinyOptions)
    let committer = try Committer(engine)
    for value in 1...50 as ClosedRange<Int64> {
      try committer.put([PathBytes("/a"): .int(value), at("/b/\(value)"): true])
      try committer.session.commit()
      guard value % 10 == 0 else { continue }
      if value == 30 { try engine.checkpoint() }
      let copy = folder.file("copy\(value)")
      try FileCalls.makeFolder(copy)
      for name in ["doubloon.db", "doubloon.db-wal"] {
        TemporaryFolder.write(TemporaryFolder.bytes(of: folder.file("data/" + name)), to: copy + "/" + name)
      }
      let reopened = try SQLiteEngine(directory: copy, options: tinyOptions)
      try reopened.read { snapshot throws in
        #expect(try snapshot.value(in: committer.ns, "/a") == .int(value))
        #expect(try snapshot.children(in: committer.ns, of: PathBytes("/b"), after: nil, limit: 99).count == Int(value))
      }
      reopened.close()
    }
    engine.close()
  }

  @Test("A checkpoint is due when the log is large, and again only after as much was written")
  func checkpointIsDue() throws {
    var options = tinyOptions
    options.walBytesMax = 64 << 10
    let engine = try SQLiteEngine(directory: folder.path, options: options)
    defer { engine.close() }
    let committer = try Committer(engine)
    var dues: [Int64] = []
    for value in 1...60 as ClosedRange<Int64> {
      try committer.put(Path(parsing: "a\(value)"), .string(String(repeating: "x", count: 8 << 10)))
      try committer.session.commit()
      guard engine.isCheckpointDue else { continue }
      dues.append(value)
      try engine.checkpoint()
      #expect(!engine.isCheckpointDue)
    }
    #expect((3...30).contains(dues.count))
    #expect(zip(dues, dues.dropFirst()).allSatisfy { $1 - $0 >= 2 })
  }

  @Test(
    "A commit that fails throws, and the session writes nothing ever after",
    arguments: [SQLiteFaults.Point.beforeRows, .beforeCommit])
  func poisoned(point: SQLiteFaults.Point) throws {
    let isBroken = Mutex(false)
    let broken = Broken(isBroken)
    let faults = SQLiteFaults { found in
      found == point && broken.value ? StorageError(.full, "The disk is full.") : nil
    }
    let engine = try SQLiteEngine(
      folder: DataFolder(folder.path), options: tinyOptions, faults: faults)
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.session.commit()
    try committer.put("/a", 2)
    broken.value = true
    #expect { try committer.session.commit() } throws: { ($0 as? StorageError)?.code == .full }
    broken.value = false
    #expect { try committer.session.commit() } throws: { ($0 as? StorageError)?.code == .full }
    #expect(throws: StorageError.self) { try committer.session.head(of: NamespaceID(rawValue: 77)) }
    #expect(throws: StorageError.self) { try committer.session.leaf(in: committer.ns, at: PathBytes("/x")) }
    // Readers go on, and see what was acknowledged; the past is not confused by what was published and never committed.
    try engine.read { snapshot throws in
      #expect(try snapshot.value(in: committer.ns, "/a") == 1)
      #expect(try snapshot.leaves(in: committer.ns, under: .root, asOf: Revision(1), limit: 9).map(\.leaf.scalar) == [1])
    }
    engine.close()
    let reopened = try SQLiteEngine(directory: folder.path, options: tinyOptions)
    #expect(try reopened.read { try $0.value(in: committer.ns, "/a") } == 1)
    reopened.close()
  }

  @Test("A failure after the disk has the commit keeps it, and acknowledges nothing")
  func failedAfterCommit() throws {
    let faults = SQLiteFaults { $0 == .afterCommit ? StorageError(.failed, "I/O error.") : nil }
    let engine = try SQLiteEngine(folder: DataFolder(folder.path), options: tinyOptions, faults: faults)
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    #expect(throws: StorageError.self) { try committer.session.commit() }
    engine.close()
    let reopened = try SQLiteEngine(directory: folder.path, options: tinyOptions)
    #expect(try reopened.read { try $0.value(in: committer.ns, "/a") } == 1)
    reopened.close()
  }
}

/// A switch that a closure and a test share.
private final class Broken: Sendable {
  private let state: Mutex<Bool>

  init(_ state: consuming Mutex<Bool>) {
    self.state = state
  }

  var value: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
