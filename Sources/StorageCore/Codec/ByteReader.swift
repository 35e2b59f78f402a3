public import TreeModel

/// Reads what ``ByteWriter`` wrote. Bytes that it cannot have written are an error, never a trap: they come from a disk.
///
/// Reads memory that it does not own: the buffer must outlive the reader, which holds for the row of a statement until its
/// next step, and inside `withUnsafeBytes`. Every access is checked against the buffer's end first.
public struct ByteReader {
  private let buffer: UnsafeRawBufferPointer
  private var position = 0

  public init(_ buffer: UnsafeRawBufferPointer) {
    self.buffer = buffer
  }

  /// Whether every byte was read.
  public var isAtEnd: Bool { position == buffer.count }

  static func damaged(_ what: String) -> StorageError {
    StorageError(.damaged, "The stored data is damaged: \(what). Stop the server and restore the last backup.")
  }

  /// The next byte.
  public mutating func byte() throws(StorageError) -> UInt8 {
    guard position < buffer.count else { throw Self.damaged("a record ends too early") }
    defer { position += 1 }
    return buffer[position]
  }

  /// A number of seven bits a byte, the lowest first; at most ten bytes.
  public mutating func unsigned() throws(StorageError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try byte()
      let bits = UInt64(byte & 0x7F)
      guard shift < 63 || (shift == 63 && bits <= 1) else { throw Self.damaged("a number has too many digits") }
      value |= bits << shift
      if byte < 0x80 { return value }
      shift += 7
    }
  }

  /// A zigzag number of either sign.
  public mutating func signed() throws(StorageError) -> Int64 {
    let value = try unsigned()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// A length, which cannot be larger than what is left.
  public mutating func count() throws(StorageError) -> Int {
    let value = try unsigned()
    guard value <= UInt64(buffer.count - position) else { throw Self.damaged("a record ends too early") }
    return Int(value)
  }

  /// The next `count` bytes where they are: not copied, and valid only as long as the buffer.
  public mutating func raw(_ count: Int) throws(StorageError) -> UnsafeRawBufferPointer {
    guard count >= 0, count <= buffer.count - position else { throw Self.damaged("a record ends too early") }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: buffer[position..<position + count])
  }

  /// Everything that is left, as ``raw(_:)``.
  public mutating func rest() throws(StorageError) -> UnsafeRawBufferPointer { try raw(buffer.count - position) }

  /// A length and as many bytes, copied.
  public mutating func bytes() throws(StorageError) -> [UInt8] {
    try Array(raw(count()))
  }

  /// A length and as many bytes of UTF-8. Other bytes are damage; they are not repaired.
  public mutating func text() throws(StorageError) -> String {
    let raw = try raw(count())
    guard let text = String(utf8: raw) else { throw Self.damaged("a text is not UTF-8") }
    return text
  }

  /// A mark, and a text if the mark is 1.
  public mutating func optionalText() throws(StorageError) -> String? {
    switch try byte() {
    case 0: nil
    case 1: try text()
    default: throw Self.damaged("an optional text has an unknown mark")
    }
  }

  /// A tag and the value; nil is a tag of its own.
  public mutating func optionalScalar() throws(StorageError) -> Scalar? {
    switch try byte() {
    case ScalarTag.none: return nil
    case ScalarTag.false: return .bool(false)
    case ScalarTag.true: return .bool(true)
    case ScalarTag.int: return .int(try signed())
    case ScalarTag.double:
      let raw = try raw(8)
      return .double(Double(bitPattern: UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self))))
    case ScalarTag.string: return .string(try text())
    case let tag: throw Self.damaged("a value has the unknown type \(tag)")
    }
  }

  /// Checks that nothing is left: a record ends where its last field does.
  public func finish() throws(StorageError) {
    guard isAtEnd else { throw Self.damaged("a record has bytes after its end") }
  }
}
