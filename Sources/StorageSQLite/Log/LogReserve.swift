#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif
internal import StorageCore

/// Keeps the log's file longer than the log: zeros, appended once in small steps, that the log then uses again and again.
///
/// An fsync of a file that grows writes more than the batch: where the new blocks are, and how long the file is now, through
/// the file system's own journal. One of a file whose blocks are there writes the batch alone, in about half the time. So
/// the sync of a batch that comes near the end of the file appends a step and takes it along, and a log that restarts begins
/// at the front of the same file.
///
/// SQLite and ``LogInspection`` read a log up to the first frame whose salts and checksum do not follow on the one before it:
/// zeros never do, nor do frames that an earlier use of the file has left.
///
/// Zeros are appended (`O_APPEND`) and never written at an offset: a merge of the history may lengthen the log at the same
/// moment, and no frame can be overwritten that way.
final class LogReserve {
  /// How the file is kept ahead, in bytes.
  struct Limits: Sendable, Equatable {
    /// A log that is shorter is left alone: little is written to such a store.
    var from: Int64 = 1 << 20
    /// What is appended in one go.
    var step: Int64 = 256 << 10
    /// On a disk with less free space nothing is appended: the room is for what is written.
    var freeMin: Int64 = 64 << 20
  }

  /// Zeros that one call writes.
  private static let zeroBytes = 64 << 10

  private let descriptor: Int32
  private let limits: Limits
  /// The file is not made longer than this.
  private let bytesMax: Int64
  /// Where the file ended when it was last looked at; it may be longer.
  private var fileEnd: Int64 = 0
  /// Whether the disk refused zeros. Then the log grows as it is written.
  private var isRefused = false

  /// - `path`: the log's file, which is there.
  init(path: String, limits: Limits, bytesMax: Int) throws(StorageError) {
    descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileCalls.failed("opening", path) }
    self.limits = limits
    self.bytesMax = Int64(bytesMax)
  }

  deinit {
    _ = close(descriptor)
  }

  /// Appends a step if the file ends near the log's end. A disk that refuses it has refused nothing that matters.
  func extend(beyond logEnd: Int64) {
    let needed = logEnd + limits.step / 2
    guard needed > fileEnd, logEnd >= limits.from, !isRefused else { return }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return }
    fileEnd = Int64(status.st_size)
    guard needed > fileEnd, fileEnd < bytesMax, hasRoom() else { return }
    append(min(limits.step, bytesMax - fileEnd))
  }

  /// After the file was cut: it has to be looked at.
  func didTruncate() {
    fileEnd = 0
  }

  private func hasRoom() -> Bool {
    var system = statvfs()
    guard fstatvfs(descriptor, &system) == 0 else { return false }
    return Int64(system.f_bavail) * Int64(system.f_frsize) >= limits.freeMin
  }

  private func append(_ count: Int64) {
    let zeros = [UInt8](repeating: 0, count: Self.zeroBytes)
    var left = Int(count)
    while left > 0 {
      let written = write(descriptor, zeros, min(left, zeros.count))
      guard written > 0 else {
        isRefused = true
        return
      }
      left -= written
      fileEnd += Int64(written)
    }
  }
}
