internal import CSQLite
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The write-ahead log's file, as the writer's connection sees it: writes are gathered, and the sync at the end of a
/// transaction is left to the thread that makes the batch durable.
///
/// SQLite writes a log frame as a header and a page, two system calls for each page that a batch touched; they follow one
/// another in the file, so one call does for all. And it syncs before `COMMIT` returns, while the writer could judge the
/// next batch: ``sync()`` does that later, on another thread.
///
/// Two things keep this as safe as SQLite's own order. Before SQLite tells other connections of new frames it asks for a
/// sync; what was gathered reaches the file then, so they always find what they look for. And when the log restarts, its
/// header is synced at once, as SQLite asks: a header that reached the disk after the first new frames would make a crash
/// bring back old ones.
///
/// And no transaction is written before all earlier ones are durable: the batches of a writer that flushes each never wait for
/// that, the few transactions around them do. So only the last transaction of a log can be torn, and what is broken before
/// it is damage (``LogInspection``).
///
/// `@unchecked Sendable`: the writer's thread alone calls the methods of the file; ``sync()`` may be called from another one
/// while the writer does not write (`WriteSession.flush()` demands that).
final class LogFile: @unchecked Sendable {
  /// SQLite's file object, and the methods of the VFS below.
  private let file: UnsafeMutablePointer<sqlite3_file>
  private let base: UnsafePointer<sqlite3_io_methods>
  private let buffer: UnsafeMutableRawPointer
  private var gathered = 0
  private var gatheredOffset: Int64 = 0
  /// Whether the log's header was written and not yet synced.
  private var hasNewHeader = false
  /// Whether a transaction was written that no sync has made durable.
  private let hasUnsynced = Atomic<Bool>(false)
  /// What the writer has written: the salts of the last frame, where it ends, and how many transactions were committed.
  private var written = DurableMark.Extent()
  private var mark: DurableMark?
  /// Whether what is written is synced; not that of a working copy, which a journal has.
  var isSynced = true
  /// Keeps the file ahead of the log; nil: it grows with the log.
  var reserve: LogReserve?

  /// SQLite's own file systems take no more than 128 KiB - 1 in one call.
  private static let capacity = 120 << 10
  private static let frameHeaderBytes = 24

  init(file: UnsafeMutablePointer<sqlite3_file>, base: UnsafePointer<sqlite3_io_methods>) {
    self.file = file
    self.base = base
    buffer = .allocate(byteCount: Self.capacity, alignment: 16)
  }

  deinit {
    buffer.deallocate()
  }

  /// Makes durable what the file holds.
  func sync() -> Int32 {
    guard isSynced else {
      hasUnsynced.store(false, ordering: .relaxed)
      return SQLITE_OK
    }
    if hasUnsynced.load(ordering: .relaxed) { reserve?.extend(beyond: written.bytes) }
    let code = base.pointee.xSync(file, SQLITE_SYNC_NORMAL)
    guard code == SQLITE_OK else { return code }
    if hasUnsynced.exchange(false, ordering: .sequentiallyConsistent) { mark?.write(written) }
    return code
  }

  /// Says from now on, after each sync, how much of the log is durable. What is there now must be.
  func keep(_ mark: DurableMark, from extent: DurableMark.Extent) {
    if written.bytes == 0 { written = extent }
    written.transactions = extent.transactions
    self.mark = mark
    mark.write(written)
  }

  /// Takes note of a commit of the writer's, before it is synced: how many there are with it.
  func didCommit(transactions: Int64) {
    written.transactions = transactions
  }

  /// After the log is gone: all of it is in the main file.
  func removeMark() {
    mark?.remove()
  }

  func write(_ bytes: UnsafeRawPointer, _ count: Int, at offset: Int64) -> Int32 {
    // Of an earlier transaction: within one nothing ends.
    if hasUnsynced.load(ordering: .sequentiallyConsistent) {
      let code = sync()
      guard code == SQLITE_OK else { return code }
    }
    if offset == 0 {
      hasNewHeader = true
    } else if count == Self.frameHeaderBytes {
      written.salts = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    written.bytes = offset + Int64(count)
    if offset != gatheredOffset + Int64(gathered) || gathered + count > Self.capacity {
      let code = writeGathered()
      guard code == SQLITE_OK else { return code }
      gatheredOffset = offset
    }
    guard count <= Self.capacity else { return base.pointee.xWrite(file, bytes, Int32(count), offset) }
    memcpy(buffer + gathered, bytes, count)
    gathered += count
    return SQLITE_OK
  }

  /// What SQLite asks for at the end of a transaction.
  func endTransaction(_ flags: Int32) -> Int32 {
    let code = writeGathered()
    guard code == SQLITE_OK, hasNewHeader else {
      hasUnsynced.store(true, ordering: .sequentiallyConsistent)
      return code
    }
    hasNewHeader = false
    guard isSynced else { return SQLITE_OK }
    return base.pointee.xSync(file, flags)
  }

  func writeGathered() -> Int32 {
    guard gathered > 0 else { return SQLITE_OK }
    let count = gathered
    gathered = 0
    let code = base.pointee.xWrite(file, buffer, Int32(count), gatheredOffset)
    gatheredOffset += Int64(count)
    return code
  }

  func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int32, at offset: Int64) -> Int32 {
    let code = writeGathered()
    return code == SQLITE_OK ? base.pointee.xRead(file, bytes, count, offset) : code
  }

  func truncate(to size: Int64) -> Int32 {
    let code = writeGathered()
    reserve?.didTruncate()
    return code == SQLITE_OK ? base.pointee.xTruncate(file, size) : code
  }

  func size(_ size: UnsafeMutablePointer<Int64>?) -> Int32 {
    let code = writeGathered()
    return code == SQLITE_OK ? base.pointee.xFileSize(file, size) : code
  }

  func close() -> Int32 {
    let code = writeGathered()
    let closed = base.pointee.xClose(file)
    return code == SQLITE_OK ? closed : code
  }
}

/// How much of the log file no checkpoint has moved yet.
///
/// A read that misses its cache looks for the page in all of that part, and a start after a crash reads it: a few commits of
/// ten thousand leaves each can make it large, as can the building of an index.
final class LogGauge: Sendable {
  /// Pages in the log after the writer's last transaction; those of merges are among them.
  private let frames = Atomic<Int>(0)
  /// So many of them were moved.
  private let moved = Atomic<Int>(0)
  /// More unmoved pages than this make a checkpoint due.
  private let allowed: Atomic<Int>
  private let allowedAtFirst: Int

  init(allowing frames: Int) {
    allowedAtFirst = frames
    allowed = Atomic(frames)
  }

  /// Pages that only the log has.
  var unmovedFrames: Int {
    let (frames, moved) = (frames.load(ordering: .relaxed), moved.load(ordering: .relaxed))
    // The log may restart between a checkpoint and what is told of it: then nothing that is there now was moved.
    return frames < moved ? frames : frames - moved
  }

  /// Whether too many pages are in the log alone.
  var isOver: Bool { unmovedFrames > allowed.load(ordering: .relaxed) }

  /// Is told of each of the writer's transactions from now on. The gauge must outlive the connection.
  func watch(_ connection: SQLiteConnection) {
    sqlite3_wal_hook(
      connection.handle,
      { gauge, _, _, frames in
        guard let gauge else { return SQLITE_OK }
        Unmanaged<LogGauge>.fromOpaque(gauge).takeUnretainedValue().didCommit(frames: Int(frames))
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func didCommit(frames count: Int) {
    // The log restarted.
    guard count < frames.exchange(count, ordering: .relaxed) else { return }
    moved.store(0, ordering: .relaxed)
    allowed.store(allowedAtFirst, ordering: .relaxed)
  }

  /// A checkpoint has moved so many pages. What it had to leave, because of a long read, is tried again once as much again
  /// was written, and not with each transaction.
  func didMove(frames count: Int) {
    moved.store(count, ordering: .relaxed)
    let rest = unmovedFrames
    allowed.store(rest > allowedAtFirst ? rest + allowedAtFirst : allowedAtFirst, ordering: .relaxed)
  }
}
