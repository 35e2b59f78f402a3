#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import StorageCore

/// The file in which runs are noted before they begin, so that one that kills the process is found at the next start.
///
/// A page of memory that the system writes back: noting costs a copy of some bytes, no call and no fsync. It outlives the
/// process, not the machine; a machine that dies is nobody's fault. What cannot be read is left out.
/// `@unchecked Sendable`: `base` never changes, and each slot belongs to one run at a time (the dispatcher hands slots out
/// under its lock).
final class CrashNotes: @unchecked Sendable {
  let slotCount = 64
  /// Room for the deepest path of the longest keys.
  private static let slotBytes = 32 << 10
  /// Length, checksum, and whether the run is alone.
  private static let headerBytes = 12

  private let base: UnsafeMutableRawPointer

  /// Opens or creates the file.
  init(path: String) throws(StorageError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure("opened", path) }
    defer { close(descriptor) }
    let size = slotCount * Self.slotBytes
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw Self.failure("sized", path) }
    let mapped = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let mapped, mapped != MAP_FAILED else { throw Self.failure("mapped", path) }
    base = mapped
  }

  deinit {
    munmap(base, slotCount * Self.slotBytes)
  }

  func write(_ note: CrashNote, to slot: Int) {
    let bytes = note.bytes
    guard bytes.count <= Self.slotBytes - Self.headerBytes else { return }
    let start = base + slot * Self.slotBytes
    (start + Self.headerBytes).copyMemory(from: bytes, byteCount: bytes.count)
    start.storeBytes(of: Self.checksum(bytes), toByteOffset: 4, as: UInt32.self)
    start.storeBytes(of: note.isAlone ? 1 : 0, toByteOffset: 8, as: UInt32.self)
    start.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
  }

  /// The run is over, or others run beside it from now on.
  func endAlone(_ slot: Int) {
    (base + slot * Self.slotBytes).storeBytes(of: 0, toByteOffset: 8, as: UInt32.self)
  }

  func clear(_ slot: Int) {
    (base + slot * Self.slotBytes).storeBytes(of: 0, as: UInt32.self)
  }

  /// The notes of runs that were under way when the process died.
  func read() -> [CrashNote] {
    (0..<slotCount).compactMap { slot in
      let start = base + slot * Self.slotBytes
      let count = Int(start.load(as: UInt32.self))
      guard count > 0, count <= Self.slotBytes - Self.headerBytes else { return nil }
      let bytes = Array(UnsafeRawBufferPointer(start: start + Self.headerBytes, count: count))
      guard Self.checksum(bytes) == start.load(fromByteOffset: 4, as: UInt32.self) else { return nil }
      var note = CrashNote(bytes)
      note?.isAlone = start.load(fromByteOffset: 8, as: UInt32.self) == 1
      return note
    }
  }

  func clearAll() {
    for slot in 0..<slotCount { clear(slot) }
  }

  /// FNV-1a: tells a note from the rest of an older one, and from one of an older layout.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    bytes.reduce(2_166_136_262) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }

  private static func failure(_ what: String, _ path: String) -> StorageError {
    StorageError(
      .failed, "\(path) could not be \(what): \(String(cString: strerror(errno))). Check the folder's rights and space.")
  }
}
