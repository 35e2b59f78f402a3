import StorageCore
import Synchronization
import Testing
import TreeModel

@testable import StorageSQLite

@Suite("Writing ahead of the disk")
struct FlushTests {
  let folder = TemporaryFolder()

  @Test("A batch that was written is seen by the next one, and lost by a power cut until it is flushed")
  func unflushed() throws {
    let disk = FaultyDisk.shared
    disk.reset()
    var options = tinyOptions
    options.vfs = disk.name
    let engine = try SQLiteEngine(directory: folder.file("data"), options: options)
    let scribe = try Scribe(engine)
    try scribe.put("/a", 1)
    try scribe.session.commit()
    try scribe.put("/a", 2)
    try scribe.session.write()
    #expect(try scribe.session.leaf(in: scribe.ns, at: PathBytes("/a"))?.leaf.scalar == 2)
    #expect(try valueAfterPowerCut(1, in: scribe.ns) == 1)
    try scribe.session.flush()
    #expect(try valueAfterPowerCut(2, in: scribe.ns) == 2)
    engine.close()
  }

  private func valueAfterPowerCut(_ number: Int, in ns: NamespaceID) throws -> Scalar? {
    let copy = folder.file("copy\(number)")
    try FileCalls.makeFolder(copy)
    FaultyDisk.shared.copyDurable(from: folder.file("data"), to: copy)
    let reopened = try SQLiteEngine(directory: copy, options: tinyOptions)
    defer { reopened.close() }
    return try reopened.read { try $0.value(in: ns, "/a") }
  }

  @Test("A read that may have seen an unflushed batch is given out when the disk has it, and no sooner")
  func heldBack() throws {
    let engine = try SQLiteEngine(directory: folder.path, options: tinyOptions)
    let scribe = try Scribe(engine)
    try scribe.put("/a", 1)
    try scribe.session.commit()
    let told = Mutex<[Int]>([])
    let before = try engine.readAhead { try $0.value(in: scribe.ns, "/a") }
    engine.whenDurable(before.position) { told.withLock { $0.append(1) } }
    #expect(told.withLock { $0 } == [1], "Nothing is in flight, so nothing is waited for.")

    try scribe.put("/a", 2)
    try scribe.session.write()
    let ahead = try engine.readAhead { try $0.value(in: scribe.ns, "/a") }
    #expect(ahead.result == 2)
    engine.whenDurable(ahead.position) { told.withLock { $0.append(2) } }
    engine.whenDurable(before.position) { told.withLock { $0.append(3) } }
    #expect(told.withLock { $0 } == [1, 3])
    try scribe.session.flush()
    #expect(told.withLock { $0 } == [1, 3, 2])
    #expect(try engine.read { try $0.value(in: scribe.ns, "/a") } == 2)
    engine.close()
  }

  @Test("What waits for the disk is let go when the disk fails, and nothing is written after")
  func failed() throws {
    let faults = SQLiteFaults { $0 == .afterCommit ? StorageError(.failed, "I/O error.") : nil }
    let engine = try SQLiteEngine(folder: DataFolder(folder.path), options: tinyOptions, faults: faults)
    let scribe = try Scribe(engine)
    try scribe.put("/a", 1)
    try scribe.session.write()
    let isTold = Mutex(false)
    engine.whenDurable(try engine.readAhead { try $0.value(in: scribe.ns, "/a") }.position) { isTold.withLock { $0 = true } }
    #expect(throws: StorageError.self) { try scribe.session.flush() }
    #expect(isTold.withLock { $0 })
    #expect(throws: StorageError.self) { try scribe.session.write() }
    engine.close()
  }

  @Test("A log that begins anew, and batches larger than the gathering buffer, survive a power cut at any moment")
  func logRestarts() throws {
    let disk = FaultyDisk.shared
    disk.reset()
    var options = tinyOptions
    options.vfs = disk.name
    options.walBytesMax = 1 << 16
    let engine = try SQLiteEngine(directory: folder.file("data"), options: options)
    let scribe = try Scribe(engine)
    let text = String(repeating: "x", count: 3000)
    for round in 1...6 as ClosedRange<Int64> {
      var values: [PathBytes: Scalar?] = [PathBytes("/a"): .int(round)]
      for index in 0..<60 { values[at("/b/\(round)-\(index)")] = .string(text) }
      try scribe.put(values)
      try scribe.session.commit()
      if round % 2 == 0 { try engine.checkpoint() }
      #expect(try valueAfterPowerCut(100 + Int(round), in: scribe.ns) == .int(round))
    }
    engine.close()
  }
}
