#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif
internal import StorageCore

/// The folder of one store, held by this process alone.
///
/// SQLite itself would let a second process in; two writers with a memory of their own would both be wrong. So the holder
/// has a lock (`flock`) on a file beside the store, which ends with the process however it ends, and its pid is in it.
final class DataFolder: Sendable {
  static let lockName = "doubloon.lock"
  static let storeName = "doubloon.db"

  let path: String
  /// Whether the folder goes with the process.
  let isTemporary: Bool
  private let lock: Int32

  var store: String { "\(path)/\(Self.storeName)" }

  init(_ path: String, isTemporary: Bool = false) throws(StorageError) {
    try FileCalls.makeFolder(path)
    self.path = path
    self.isTemporary = isTemporary
    lock = try Self.lock(path + "/" + Self.lockName, of: path)
  }

  static func temporary() throws(StorageError) -> DataFolder {
    try DataFolder(FileCalls.makeTemporaryFolder(), isTemporary: true)
  }

  /// Gives the lock back, and removes a temporary folder. Call it once, with everything in the folder closed.
  func release() {
    if isTemporary { FileCalls.removeFolder(path) }
    _ = close(lock)
  }

  private static func lock(_ file: String, of folder: String) throws(StorageError) -> Int32 {
    let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileCalls.failed("opening", file) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let isHeld = errno == EWOULDBLOCK
      let error = FileCalls.failed("locking", file)
      let holder = pid(in: descriptor)
      _ = close(descriptor)
      guard isHeld else { throw error }
      throw StorageError(
        .locked,
        "\(folder) is in use by process \(holder). Stop that process, talk to it with --server, or choose another folder.")
    }
    let text = "\(getpid())\n"
    // The pid is only for the message to others; the lock holds without it.
    _ = ftruncate(descriptor, 0)
    _ = text.withCString { pwrite(descriptor, $0, text.utf8.count, 0) }
    return descriptor
  }

  private static func pid(in descriptor: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    let digits = buffer.prefix(max(0, count)).prefix { (48...57).contains($0) }
    return digits.isEmpty ? "(unknown)" : String(decoding: digits, as: UTF8.self)
  }
}
