#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif
internal import StorageCore

/// A small file beside the store that says how much of the log was synced: what is missing before there was acknowledged.
///
/// It is written after each sync and never synced itself: after a kill it says exactly what was durable, after a power cut
/// perhaps less, and never more. A store that was closed in order has none.
///
/// `@unchecked Sendable`: the descriptor is used by one thread at a time, as ``LogFile`` is.
final class DurableMark: @unchecked Sendable {
  /// What it says: of the log with these salts so many bytes, and with them so many transactions of the store
  /// (``RowDigests/transactions``).
  struct Extent: Equatable {
    var salts: UInt64 = 0
    var bytes: Int64 = 0
    var transactions: Int64 = 0

    /// Of a store whose loss is being accepted: no log can be as long.
    static let recovering = Extent(bytes: .max, transactions: .max)
  }

  /// Its name ends in this, behind the store's.
  static let ending = "-synced"

  private static let magic = Array("doubloon synced2".utf8)
  private static let size = 48

  private let path: String
  private let descriptor: Int32
  private var isRemoved = false

  /// Opens the file; creates it.
  init(path: String) throws(StorageError) {
    self.path = path
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileCalls.failed("opening", path) }
  }

  deinit {
    _ = close(descriptor)
  }

  /// What the file at a path says; nil where there is none, or one that was not finished.
  static func extent(at path: String) -> Extent? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: size)
    guard pread(descriptor, &bytes, size, 0) == size, Array(bytes[..<16]) == magic else { return nil }
    let words = bytes.withUnsafeBytes { bytes in
      (2..<6).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)) }
    }
    // The last word proves the others.
    guard words[3] == check(words[..<3]) else { return nil }
    return Extent(salts: words[0], bytes: Int64(bitPattern: words[1]), transactions: Int64(bitPattern: words[2]))
  }

  /// A mark that cannot be written says less than it could, and that is all.
  func write(_ extent: Extent) {
    guard !isRemoved else { return }
    let words = [extent.salts, UInt64(bitPattern: extent.bytes), UInt64(bitPattern: extent.transactions)]
    var bytes = Self.magic
    for word in words + [Self.check(words[...])] {
      withUnsafeBytes(of: word.littleEndian) { bytes += $0 }
    }
    _ = pwrite(descriptor, bytes, Self.size, 0)
  }

  /// After the store was closed, which took the log away: nothing is said any more. On disk when this returns.
  func remove() {
    guard !isRemoved else { return }
    isRemoved = true
    FileCalls.remove(path)
    // Without it the name may come back after a power cut, and the next start would have to look through the whole store.
    try? FileCalls.sync(FileCalls.folder(of: path))
  }

  private static func check(_ words: ArraySlice<UInt64>) -> UInt64 {
    words.reduce(0x646F_7562_6C6F_6F6E) { sum, word in
      let mixed = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
      return (mixed ^ mixed >> 31) &* 0xBF58_476D_1CE4_E5B9
    }
  }
}
