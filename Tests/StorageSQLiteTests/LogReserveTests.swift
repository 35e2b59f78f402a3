import Glibc
import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

/// The log's file is written ahead with zeros, and used again from its front.
@Suite("Room for the log")
struct LogReserveTests {
  let folder = TemporaryFolder()

  private func commit(
    _ values: ClosedRange<Int64>, with committer: Committer, checkpointing engine: SQLiteEngine? = nil
  ) throws {
    for value in values {
      try committer.put([PathBytes("/a"): .int(value), at("/b/\(value)"): .string(String(repeating: "x", count: 500))])
      try committer.session.commit()
      if value % 5 == 0 { try engine?.checkpoint() }
    }
  }

  /// The store as a process leaves it that is killed now.
  private func killed(_ engine: SQLiteEngine, as name: String) throws -> String {
    let copy = folder.file(name)
    try FileCalls.makeFolder(copy)
    for ending in ["", "-wal", "-synced"] {
      TemporaryFolder.write(TemporaryFolder.bytes(of: engine.path + ending), to: "\(copy)/doubloon.db\(ending)")
    }
    return copy
  }

  private func state(of path: String) -> (inode: UInt64, bytes: Int64) {
    var status = stat()
    _ = stat(path, &status)
    return (UInt64(status.st_ino), Int64(status.st_size))
  }

  @Test("A log that restarts begins at the front of the same file, which neither grows nor shrinks any more")
  func usedAgain() throws {
    var options = reservedOptions
    options.walBytesKept = 256 << 10
    let engine = try SQLiteEngine(directory: folder.file("data"), options: options)
    defer { engine.close() }
    let log = engine.path + "-wal"
    let committer = try Committer(engine)
    try commit(1...100, with: committer, checkpointing: engine)
    let first = state(of: log)
    var salts: Set<UInt64> = []
    for round in 2...12 as ClosedRange<Int64> {
      try commit((round * 100 - 99)...(round * 100), with: committer, checkpointing: engine)
      #expect(state(of: log) == first)
      salts.insert(try #require(try LogInspection(path: log).salts))
    }
    #expect(salts.count == 11)
    #expect(try engine.read { try $0.children(in: committer.ns, of: PathBytes("/b"), after: nil, limit: 9999).count } == 1200)
    #expect(try engine.check().faults.isEmpty)
  }

  @Test("Zeros behind the log are no loss after a kill, are kept, and are written over by what comes")
  func zeros() throws {
    let engine = try SQLiteEngine(directory: folder.file("data"), options: reservedOptions)
    let committer = try Committer(engine)
    try commit(1...8, with: committer)
    let copy = try killed(engine, as: "killed")
    engine.close()
    let log = copy + "/doubloon.db-wal"
    let before = try LogInspection(path: log)
    try #require(before.fileBytes > before.soundBytes + 2 * 2072)
    #expect(TemporaryFolder.bytes(of: log)[Int(before.soundBytes)...].allSatisfy { $0 == 0 })
    #expect(!before.hasRest && !before.isBrokenInTheMiddle)

    let reopened = try SQLiteEngine(directory: copy, options: reservedOptions)
    #expect(state(of: log).bytes == before.fileBytes)
    #expect(try reopened.read { try $0.value(in: committer.ns, "/a") } == 8)
    let next = try Committer(reopened)
    try next.put("/a", 9)
    try next.session.commit()
    let after = try LogInspection(path: log)
    #expect(after.salts == before.salts && after.soundBytes > before.soundBytes && after.fileBytes >= before.fileBytes)
    #expect(try reopened.check().faults.isEmpty)
    try reopened.backup(to: folder.file("copy.db"))
    reopened.close()
    #expect(!FileCalls.exists(log))
    try SQLiteEngine.restore(from: folder.file("copy.db"), to: folder.file("restored"))
    let restored = try SQLiteEngine(directory: folder.file("restored"), options: reservedOptions)
    #expect(try restored.read { try $0.value(in: committer.ns, "/a") } == 9)
    restored.close()
  }

  @Test("Frames of earlier generations behind the log are not played back after a kill, and are kept")
  func oldFrames() throws {
    let engine = try SQLiteEngine(directory: folder.file("data"), options: reservedOptions)
    let committer = try Committer(engine)
    try commit(1...60, with: committer, checkpointing: engine)
    try commit(61...63, with: committer)
    let copy = try killed(engine, as: "killed")
    engine.close()
    let log = try LogInspection(path: copy + "/doubloon.db-wal")
    let rest = TemporaryFolder.bytes(of: copy + "/doubloon.db-wal")[Int(log.soundBytes)...]
    try #require(rest.count > 10 * 2072 && rest.prefix(10 * 2072).contains { $0 != 0 })
    #expect(!log.hasRest)
    let reopened = try SQLiteEngine(directory: copy, options: reservedOptions)
    defer { reopened.close() }
    #expect(state(of: copy + "/doubloon.db-wal").bytes == log.fileBytes)
    #expect(try reopened.read { try $0.value(in: committer.ns, "/a") } == 63)
    #expect(try reopened.read { try $0.children(in: committer.ns, of: PathBytes("/b"), after: nil, limit: 99).count } == 63)
    #expect(try reopened.check().faults.isEmpty)
  }

  @Test("A log that one transaction has made too large is cut when it restarts")
  func cut() throws {
    let engine = try SQLiteEngine(directory: folder.file("data"), options: reservedOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    var values: [PathBytes: Scalar?] = [:]
    for index in 0..<2000 { values[at("/c/\(index)")] = .string(String(repeating: "y", count: 400)) }
    try committer.put(values)
    try committer.session.commit()
    #expect(state(of: engine.path + "-wal").bytes > Int64(reservedOptions.walBytesKept))
    try engine.checkpoint()
    try commit(1...1, with: committer)
    #expect(state(of: engine.path + "-wal").bytes == Int64(reservedOptions.walBytesKept))
    try commit(2...50, with: committer, checkpointing: engine)
    #expect(state(of: engine.path + "-wal").bytes == Int64(reservedOptions.walBytesKept))
  }

  @Test("Where the disk refuses zeros the log grows as it is written, and nothing else changes", arguments: [true, false])
  func refused(isFull: Bool) throws {
    var limits = try #require(reservedOptions.reserve)
    if !isFull { limits.freeMin = .max }
    let engine = try SQLiteEngine(directory: folder.file("data"), options: tinyOptions)
    let file = try #require(LogFileSystem.log(of: engine.writer.handle))
    // Every write to this file finds the disk full.
    file.reserve = try LogReserve(path: isFull ? "/dev/full" : engine.path + "-wal", limits: limits, bytesMax: 1 << 20)
    let committer = try Committer(engine)
    try commit(1...40, with: committer)
    let log = try LogInspection(path: engine.path + "-wal")
    #expect(log.fileBytes == log.soundBytes)
    let copy = try killed(engine, as: "killed")
    engine.close()
    let reopened = try SQLiteEngine(directory: copy, options: tinyOptions)
    defer { reopened.close() }
    #expect(try reopened.read { try $0.value(in: committer.ns, "/a") } == 40)
  }

  @Test("A log of which little was written is left as long as it is, and so is one in memory")
  func short() throws {
    var options = reservedOptions
    options.reserve = LogReserve.Limits()
    let engine = try SQLiteEngine(directory: folder.file("data"), options: options)
    let memory = try SQLiteEngine.inMemory(options: reservedOptions)
    for engine in [engine, memory] {
      try commit(1...20, with: Committer(engine))
      let log = try LogInspection(path: engine.path + "-wal")
      #expect(log.fileBytes == log.soundBytes && log.soundBytes > 16 << 10)
      engine.close()
    }
  }

  @Test("Zeros are appended behind what somebody else has written meanwhile")
  func appended() throws {
    let path = folder.file("log")
    TemporaryFolder.write([UInt8](repeating: 1, count: 1000), to: path)
    let limits = LogReserve.Limits(from: 0, step: 4096, freeMin: 0)
    let reserve = try LogReserve(path: path, limits: limits, bytesMax: 10_000)
    reserve.extend(beyond: 1000)
    #expect(state(of: path).bytes == 5096)
    TemporaryFolder.write([UInt8](repeating: 2, count: 6000), to: path)
    reserve.extend(beyond: 4000)
    let bytes = TemporaryFolder.bytes(of: path)
    #expect(bytes.count == 10_000 && bytes[..<6000].allSatisfy { $0 == 2 } && bytes[6000...].allSatisfy { $0 == 0 })
    // Neither behind the limit, nor where there is room enough.
    reserve.extend(beyond: 9999)
    reserve.extend(beyond: 3000)
    #expect(state(of: path).bytes == 10_000)
  }
}
