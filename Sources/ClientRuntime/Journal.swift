import Foundation

/// A file of records, one behind the other, each with its length and a checksum: what is torn at the end by a crash is cut off.
///
/// Not for two users at once: an advisory lock refuses the second process. All calls come from one thread at a time.
package final class Journal {
  /// Bytes that one record may have.
  package static let recordBytesMax = 64 << 20

  /// Why a file cannot be used, with a sentence.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private let handle: FileHandle
  /// Where it is.
  package let path: String
  /// Its length in bytes.
  package private(set) var size: UInt64

  /// Opens a file, or makes it, and reads what is whole in it.
  ///
  /// - Returns: the journal, its records, and how many bytes behind them were no record and were cut off.
  package static func open(_ path: String) throws(Failure) -> (journal: Journal, records: [[UInt8]], bytesCut: UInt64) {
    let folder = (path as NSString).deletingLastPathComponent
    do {
      let files = FileManager.default
      try files.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      if !files.fileExists(atPath: path),
        !files.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
      {
        throw CocoaError(.fileWriteNoPermission)
      }
      let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      guard flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0 else {
        throw Failure(description: "\(path) is in use by another process.")
      }
      let bytes = [UInt8](try handle.readToEnd() ?? Data())
      let (records, end) = Self.records(in: bytes)
      if end < bytes.count { try handle.truncate(atOffset: UInt64(end)) }
      try handle.seek(toOffset: UInt64(end))
      return (Journal(handle: handle, path: path, size: UInt64(end)), records, UInt64(bytes.count - end))
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(description: "\(path) cannot be used: \(error.localizedDescription)")
    }
  }

  private init(handle: FileHandle, path: String, size: UInt64) {
    self.handle = handle
    self.path = path
    self.size = size
  }

  deinit { try? handle.close() }

  /// Puts a record at the end. When this returns it survives the end of the process; with `isDurable` that of the machine.
  package func append(_ record: [UInt8], isDurable: Bool = false) throws(Failure) {
    guard record.count <= Self.recordBytesMax else {
      throw Failure(description: "A record of \(record.count) bytes is too large.")
    }
    let bytes = Self.framed(record)
    do {
      try handle.write(contentsOf: Data(bytes))
      if isDurable { try handle.synchronize() }
      size += UInt64(bytes.count)
    } catch {
      // Half a record would hide those after it.
      try? handle.truncate(atOffset: size)
      try? handle.seek(toOffset: size)
      throw Failure(description: "\(path) cannot be written: \(error.localizedDescription)")
    }
  }

  /// Replaces all records, whole or not at all.
  package func replace(with records: [[UInt8]]) throws(Failure) -> Journal {
    let draft = path + ".new"
    try? FileManager.default.removeItem(atPath: draft)
    let (journal, _, _) = try Journal.open(draft)
    for record in records { try journal.append(record) }
    guard fsync(journal.handle.fileDescriptor) == 0, rename(draft, path) == 0 else {
      throw Failure(description: "\(path) cannot be replaced.")
    }
    return Journal(handle: journal.handle, path: path, size: journal.size, keeping: journal)
  }

  /// The draft that this was made of keeps the file open.
  private var draft: Journal?

  private convenience init(handle: FileHandle, path: String, size: UInt64, keeping draft: Journal) {
    self.init(handle: handle, path: path, size: size)
    self.draft = draft
  }

  private static func framed(_ record: [UInt8]) -> [UInt8] {
    bytes(of: UInt32(record.count)) + bytes(of: checksum(record)) + record
  }

  /// The records at the start that are whole, and where they end.
  private static func records(in bytes: [UInt8]) -> (records: [[UInt8]], end: Int) {
    var records: [[UInt8]] = []
    var end = 0
    while end + 8 <= bytes.count {
      let count = Int(number(bytes[end..<end + 4]))
      guard count <= recordBytesMax, end + 8 + count <= bytes.count else { break }
      let record = Array(bytes[end + 8..<end + 8 + count])
      guard number(bytes[end + 4..<end + 8]) == checksum(record) else { break }
      records.append(record)
      end += 8 + count
    }
    return (records, end)
  }

  private static func bytes(of number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } }

  /// CRC-32 (RFC 1952 section 8), and never 0 for an empty record: a file that the system filled with zeros holds no records.
  static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var sum: UInt32 = 0xFFFF_FFFF
    for byte in bytes { sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
    return bytes.isEmpty ? 1 : ~sum
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }
}
