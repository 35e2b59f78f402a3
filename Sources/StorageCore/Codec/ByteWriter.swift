public import TreeModel

/// Builds the compact byte forms in which records are stored and hashed.
public struct ByteWriter: Sendable {
  /// What was written so far.
  public private(set) var bytes: [UInt8]

  /// - Parameter capacity: how many bytes to reserve; more make it grow.
  public init(capacity: Int = 64) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// One byte, as it is: versions, marks and tags.
  public mutating func write(byte: UInt8) {
    bytes.append(byte)
  }

  /// Seven bits a byte, the lowest first; the top bit says that more follow.
  public mutating func write(unsigned value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Zigzag: small numbers of either sign are short.
  public mutating func write(signed value: Int64) {
    write(unsigned: UInt64(bitPattern: (value << 1) ^ (value >> 63)))
  }

  /// The length, then the bytes.
  public mutating func write(bytes more: some Collection<UInt8>) {
    write(unsigned: UInt64(more.count))
    bytes.append(contentsOf: more)
  }

  /// The length in UTF-8, then the text.
  public mutating func write(text: String) {
    var text = text
    text.withUTF8 { utf8 in
      write(unsigned: UInt64(utf8.count))
      bytes.append(contentsOf: utf8)
    }
  }

  /// 0 for nil; 1 and the text otherwise, so that nil and the empty text differ.
  public mutating func write(optional text: String?) {
    write(byte: text == nil ? 0 : 1)
    if let text { write(text: text) }
  }

  /// One tag byte and the value; nil is a tag of its own.
  public mutating func write(scalar: Scalar?) {
    switch scalar {
    case nil: write(byte: ScalarTag.none)
    case .bool(let value): write(byte: value ? ScalarTag.true : ScalarTag.false)
    case .int(let value):
      write(byte: ScalarTag.int)
      write(signed: value)
    case .double(let value):
      write(byte: ScalarTag.double)
      withUnsafeBytes(of: value.bitPattern.bigEndian) { bytes.append(contentsOf: $0) }
    case .string(let value):
      write(byte: ScalarTag.string)
      write(text: value)
    }
  }
}

/// The first byte of a stored scalar. A new form of one gets a new tag; a number never changes its meaning.
enum ScalarTag {
  static let none: UInt8 = 0
  static let `false`: UInt8 = 1
  static let `true`: UInt8 = 2
  static let int: UInt8 = 3
  static let double: UInt8 = 4
  static let string: UInt8 = 5
}

extension Scalar {
  /// The stored form: a tag byte and the value.
  public var storedBytes: [UInt8] {
    var writer = ByteWriter(capacity: 16)
    writer.write(scalar: self)
    return writer.bytes
  }

  /// Reads the stored form.
  public init(stored bytes: UnsafeRawBufferPointer) throws(StorageError) {
    var reader = ByteReader(bytes)
    let value = try reader.optionalScalar()
    try reader.finish()
    guard let value else { throw ByteReader.damaged("a leaf has no value") }
    self = value
  }
}

extension Cause {
  static let version: UInt8 = 1

  /// The stored form.
  public var storedBytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(byte: Self.version)
    writer.write(signed: event.epoch)
    writer.write(signed: event.revision.rawValue)
    writer.write(bytes: event.path.bytes)
    writer.write(text: function)
    writer.write(signed: Int64(hop))
    return writer.bytes
  }

  /// Reads the stored form.
  public init(stored bytes: UnsafeRawBufferPointer) throws(StorageError) {
    var reader = ByteReader(bytes)
    let version = try reader.byte()
    guard version == Self.version else { throw ByteReader.damaged("a cause has the unknown form \(version)") }
    let epoch = try reader.signed()
    let revision = Revision(try reader.signed())
    let path = PathBytes(bytes: try reader.bytes())
    let function = try reader.text()
    let hop = Int(try reader.signed())
    try reader.finish()
    self.init(event: EventID(epoch: epoch, revision: revision, path: path), function: function, hop: hop)
  }
}
