/// A location in the order-preserving binary form that storage uses.
///
/// Comparing two of them byte by byte gives the order of the tree: a node before its descendants, children in
/// key order, and every subtree in one contiguous range. A key is written as
/// - an integer key: `0x10`, the value with its sign bit flipped (4 bytes, big-endian), the length of its text
///   (2 bytes) and one byte that tells `-0` from `00`;
/// - any other key: its UTF-8 bytes with the lead bytes `EE` and `EF` raised to `FE` and `FF`, which turns UTF-8's order
///   into that of UTF-16 code units, then the terminator `0x01`, which lies below every byte of a key.
///
/// A node's priority is stored as a pseudo child, the single byte `0x02`, that sorts before every child.
public struct PathBytes: Sendable {
  /// The binary form; empty for the root.
  public var bytes: [UInt8]

  static let terminator: UInt8 = 0x01
  static let priorityMark: UInt8 = 0x02
  static let integerTag: UInt8 = 0x10

  /// The root of a namespace.
  public static let root = PathBytes(bytes: [])

  /// After every path: no key begins with these bytes, because a lead byte never follows a lead byte.
  public static let afterAll = PathBytes(bytes: [0xFF, 0xFF])

  /// Takes bytes that were written by this type.
  public init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Writes a path in binary form.
  public init(_ path: Path) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(path.keys.reduce(0) { $0 + $1.text.utf8.count + 2 })
    for key in path.keys { Self.append(key, to: &bytes) }
    self.bytes = bytes
  }

  /// The place one level down.
  public func child(_ key: Key) -> PathBytes {
    var bytes = self.bytes
    Self.append(key, to: &bytes)
    return PathBytes(bytes: bytes)
  }

  /// The pseudo child that holds this node's priority.
  public var priority: PathBytes {
    PathBytes(bytes: bytes + CollectionOfOne(Self.priorityMark))
  }

  /// Where the children begin: behind the node's own value and priority.
  public var firstChild: PathBytes {
    PathBytes(bytes: bytes + CollectionOfOne(Self.priorityMark + 1))
  }

  /// Whether this is the place of a priority, not of a value.
  ///
  /// A value's place ends in the terminator or in an integer key's last byte, which is 0 or 1: never in the mark.
  public var isPriority: Bool { bytes.last == Self.priorityMark }

  /// The first location after this node's whole subtree; nil after the root's, which has no end.
  public var subtreeEnd: PathBytes? {
    var end = bytes
    while let last = end.last {
      if last < 0xFF {
        end[end.count - 1] = last + 1
        return PathBytes(bytes: end)
      }
      end.removeLast()
    }
    return nil
  }

  /// Whether `other` is this location or lies below it (its priority included).
  public func contains(_ other: PathBytes) -> Bool {
    other.bytes.withUnsafeBytes { all in bytes.withUnsafeBytes { all.begins(with: $0) } }
  }

  /// The node above at which the first so many bytes end: as ``segmentEnd(at:)`` says.
  public func prefix(_ count: Int) -> PathBytes {
    count == bytes.count ? self : PathBytes(bytes: Array(bytes[..<count]))
  }

  private static func append(_ key: Key, to bytes: inout [UInt8]) {
    if let value = key.integer {
      let flipped = UInt32(bitPattern: value) ^ 0x8000_0000
      let length = key.text.utf8.count
      bytes.append(integerTag)
      bytes.append(UInt8(truncatingIfNeeded: flipped >> 24))
      bytes.append(UInt8(truncatingIfNeeded: flipped >> 16))
      bytes.append(UInt8(truncatingIfNeeded: flipped >> 8))
      bytes.append(UInt8(truncatingIfNeeded: flipped))
      bytes.append(UInt8(truncatingIfNeeded: length >> 8))
      bytes.append(UInt8(truncatingIfNeeded: length))
      // "-0" sorts before "00": '-' is the lower byte.
      bytes.append(value == 0 && key.text.utf8.first == UInt8(ascii: "-") ? 0 : 1)
      return
    }
    var text = key.text
    text.withUTF8 { utf8 in
      // The one key with a dot in front that there is (``Key/accounts``).
      if utf8.first == UInt8(ascii: "."), key == .accounts { return bytes += [0xFF, 0xFF] }
      let start = bytes.count
      bytes.append(contentsOf: utf8)
      for (index, byte) in utf8.enumerated() where byte == 0xEE || byte == 0xEF { bytes[start + index] = byte + 0x10 }
    }
    bytes.append(terminator)
  }
}

extension PathBytes: Comparable {
  /// The order of the tree: bytewise.
  public static func < (a: PathBytes, b: PathBytes) -> Bool {
    a.bytes.precedes(b.bytes)
  }
}

extension PathBytes: Hashable {
  /// Equality of the bytes.
  public static func == (a: PathBytes, b: PathBytes) -> Bool {
    a.bytes.withUnsafeBytes { x in b.bytes.withUnsafeBytes { y in x.isSame(as: y) } }
  }

  /// Hashes the bytes in one piece; an array's own way is byte by byte.
  public func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}
