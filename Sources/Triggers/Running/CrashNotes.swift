import StorageCore
import TreeModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file in which runs are noted before they begin, so that one that kills the process is found at the next start.
///
/// A page of memory that the system writes back: noting costs a copy of some bytes, no call and no fsync. It outlives the
/// process, not the machine; a machine that dies is nobody's fault. What cannot be read is left out.
/// `@unchecked Sendable`: `base` never changes, and each slot belongs to one run at a time (the dispatcher hands slots out
/// under its lock).
final class CrashNotes: @unchecked Sendable {
  let slotCount = 64
  /// The slot of the runs on the writer, which come one after the other; no other run is given it.
  var inlineSlot: Int { slotCount - 1 }
  /// Room for the deepest path of the longest keys.
  private static let slotBytes = 32 << 10
  /// Length, checksum, and whether the run is alone.
  private static let headerBytes = 12

  private let base: UnsafeMutableRawPointer

  /// Opens or creates the file.
  init(path: String) throws(StorageError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure("opened", at: path) }
    defer { close(descriptor) }
    let size = slotCount * Self.slotBytes
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw Self.failure("sized", at: path) }
    #if canImport(Glibc)
      // A page that the disk has no room for would end the process when it is first written, by a signal. The call returns the
      // error's number.
      errno = posix_fallocate(descriptor, 0, off_t(size))
      guard errno == 0 else { throw Self.failure("given its room", at: path) }
    #endif
    let mapped = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let mapped, mapped != MAP_FAILED else { throw Self.failure("mapped", at: path) }
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
      guard isWhole(slot) else { return nil }
      let start = base + slot * Self.slotBytes
      let bytes = Array(UnsafeRawBufferPointer(start: start + Self.headerBytes, count: Int(start.load(as: UInt32.self))))
      var note = CrashNote(bytes)
      note?.isAlone = start.load(fromByteOffset: 8, as: UInt32.self) == 1
      return note
    }
  }

  /// The notes as they stand in their slots.
  func slots() -> [[UInt8]] {
    (0..<slotCount).compactMap { slot in
      let start = base + slot * Self.slotBytes
      let count = Int(start.load(as: UInt32.self))
      guard isWhole(slot) else { return nil }
      return Array(UnsafeRawBufferPointer(start: start, count: Self.headerBytes + count))
    }
  }

  /// Puts notes into slots that have none.
  func fill(_ notes: [[UInt8]]) {
    var rest = notes[...]
    for slot in 0..<slotCount where !isWhole(slot) {
      guard let note = rest.popFirst() else { return }
      guard (Self.headerBytes...Self.slotBytes).contains(note.count) else { continue }
      (base + slot * Self.slotBytes).copyMemory(from: note, byteCount: note.count)
    }
  }

  /// Whether a slot holds a note that can be read.
  private func isWhole(_ slot: Int) -> Bool {
    let start = base + slot * Self.slotBytes
    let count = Int(start.load(as: UInt32.self))
    guard count > 0, count <= Self.slotBytes - Self.headerBytes else { return false }
    let bytes = UnsafeRawBufferPointer(start: start + Self.headerBytes, count: count)
    return Self.checksum(bytes) == start.load(fromByteOffset: 4, as: UInt32.self)
  }

  func clearAll() {
    for slot in 0..<slotCount { clear(slot) }
  }

  /// FNV-1a: tells a note from the rest of an older one, and from one of an older layout.
  private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
    bytes.reduce(2_166_136_262) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }

  private static func failure(_ what: String, at path: String) -> StorageError {
    StorageError(
      .failed, "\(path) could not be \(what): \(String(cString: strerror(errno))). Check the folder's rights and space.")
  }
}

/// Which run was under way: what is noted before it begins.
struct CrashNote: Sendable, Hashable {
  let namespace: NamespaceID
  let event: EventID
  let function: String
  /// Whether nothing else was running: if the process died then, this run killed it.
  var isAlone = false
  /// The hash of the event's commit, of a run on the writer: the process may die before that commit is durable, and another
  /// one get its revision. Empty for a run on a thread, which begins when the commit is durable.
  var commitHash: [UInt8] = []

  /// Whether the run was on the writer.
  var isInline: Bool { !commitHash.isEmpty }

  /// The note as bytes: three numbers, the lengths of name and hash as one, the name, the hash, the path.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    let lengths = Int64(function.utf8.count) | Int64(commitHash.count) << 32
    for number in [namespace.rawValue, event.epoch, event.revision.rawValue, lengths] {
      withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
    bytes.append(contentsOf: function.utf8)
    bytes.append(contentsOf: commitHash)
    bytes.append(contentsOf: event.path.bytes)
    return bytes
  }

  init(namespace: NamespaceID, event: EventID, function: String, isAlone: Bool = false, commitHash: [UInt8] = []) {
    self.isAlone = isAlone
    self.commitHash = commitHash
    self.namespace = namespace
    self.event = event
    self.function = function
  }

  /// Reads what ``bytes`` wrote; nil if it is not that.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 32 else { return nil }
    let numbers = (0..<4).map { field in
      bytes[field * 8..<field * 8 + 8].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
    }
    let (nameLength, hashLength) = (Int(numbers[3] & 0xFFFF_FFFF), Int(numbers[3] >> 32))
    guard hashLength >= 0, nameLength + hashLength <= bytes.count - 32 else { return nil }
    let nameEnd = 32 + nameLength
    guard let function = String(validating: bytes[32..<nameEnd], as: UTF8.self) else { return nil }
    namespace = NamespaceID(rawValue: numbers[0])
    event = EventID(
      epoch: numbers[1], revision: Revision(numbers[2]), path: PathBytes(bytes: Array(bytes[(nameEnd + hashLength)...])))
    self.function = function
    commitHash = Array(bytes[nameEnd..<(nameEnd + hashLength)])
  }
}

/// A run that the last process died in, and that has not been finished since.
struct CrashFinding: Sendable {
  let event: EventRecord
  let function: String
  let attempts: Int
  let crashes: Int
  /// Whether the run was alone when the process died. Otherwise it is one of several suspects, or the process was killed
  /// from outside.
  let isBlamed: Bool

  /// nil if the effect was durable already, or the event is unknown, or is of another commit than the note's: then there is
  /// nothing to count.
  init?(_ note: CrashNote, snapshot: any Snapshot) throws(StorageError) {
    if note.isInline {
      let commit = try snapshot.commit(in: note.namespace, at: note.event.revision)
      guard commit?.hash == note.commitHash else { return nil }
    }
    guard try snapshot.execution(in: note.namespace, of: note.event, by: note.function) == nil,
      let event = try snapshot.event(in: note.namespace, id: note.event)
    else { return nil }
    let delivery = try snapshot.delivery(in: note.namespace, of: note.event, to: note.function)
    if delivery?.state == .dead { return nil }
    self.event = event
    function = note.function
    isBlamed = note.isAlone
    attempts = (delivery?.attempts ?? 0) + (isBlamed ? 1 : 0)
    crashes = (delivery?.crashes ?? 0) + (isBlamed ? 1 : 0)
  }

  /// The finding, written down. The next attempt comes at once, and alone: see ``DispatchState/quarantine``.
  func record(isDead: Bool, at now: Int64) -> DeliveryRecord {
    DeliveryRecord(
      event: event.id, kind: event.kind, hop: event.hop, function: function, state: isDead ? .dead : .waiting,
      attempts: attempts, crashes: crashes, nextAttemptAt: isDead ? 0 : now,
      lastError: isBlamed
        ? "crash: the process died while nothing but this ran (\(crashes) times so far)"
        : "crash: the process died while this ran, among others perhaps; it is tried again alone", updatedAt: now)
  }

  /// The attempt, if it is to blame; nil for a suspect, who may have failed at nothing.
  func attempt(settings: String?, at now: Int64) -> FailedAttempt? {
    guard isBlamed else { return nil }
    return FailedAttempt(
      event: event.id, function: function, attempt: attempts, startedAt: nil, finishedAt: now,
      error: record(isDead: false, at: now).lastError, settings: settings)
  }
}
