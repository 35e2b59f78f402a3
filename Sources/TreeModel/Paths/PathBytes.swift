import TextFormats

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

  /// The path one level down.
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

  /// Whether this is the path of a priority, not of a value.
  ///
  /// A value's path ends in the terminator or in an integer key's last byte, which is 0 or 1: never in the mark.
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

extension PathBytes {
  /// Where the key that begins at byte `start` ends; nil at the end of the path and at the mark of a priority.
  public func segmentEnd(at start: Int) -> Int? {
    bytes.withUnsafeBytes { Self.segmentEnd(in: $0, at: start) }
  }

  /// As ``segmentEnd(at:)``, of a binary form that is somewhere in memory.
  @inline(__always)
  static func segmentEnd(in bytes: UnsafeRawBufferPointer, at start: Int) -> Int? {
    guard start < bytes.count, bytes[start] != priorityMark else { return nil }
    if bytes[start] == integerTag { return start + 8 <= bytes.count ? start + 8 : nil }
    return bytes.first(terminator, from: start).map { $0 + 1 }
  }

  /// The path of a node's parent; nil for the root. Not for the path of a priority, which has a ``node``.
  public var parent: PathBytes? {
    bytes.isEmpty ? nil : prefix(keyEnds.dropLast().last ?? 0)
  }

  /// The path of the node: for the path of a priority, that of the node that has it.
  public var node: PathBytes {
    isPriority ? PathBytes(bytes: Array(bytes.dropLast())) : self
  }

  /// The keys below an ancestor's first `skipped` bytes, as clients write them: `a/b`, `a/.priority`, or nothing.
  ///
  /// - Returns: nil if the bytes are not a path.
  public func relativeText(after skipped: Int) -> String? {
    guard let keys = keys(after: skipped) else { return nil }
    var text = ""
    for key in keys {
      if !text.isEmpty { text += "/" }
      text += key.text
    }
    guard isPriority else { return text }
    return text.isEmpty ? ".priority" : text + "/.priority"
  }
}

extension PathBytes {
  /// The keys after the first `skipped` bytes, which must end at a key's end; a trailing priority mark is left out.
  ///
  /// - Returns: nil if the bytes are not a path, which for bytes read from storage means that the file is damaged.
  public func keys(after skipped: Int = 0) -> [Key]? {
    var keys: [Key] = []
    var at = skipped
    while at < bytes.count {
      if bytes[at] == Self.priorityMark { return at == bytes.count - 1 ? keys : nil }
      guard let (key, next) = key(at: at) else { return nil }
      keys.append(key)
      at = next
    }
    return keys
  }

  /// The path of these bytes; for a priority, the path of its node.
  public var path: Path? {
    keys().map(Path.init(keys:))
  }

  /// The key that begins at byte `start`, and where the next one begins.
  public func key(at start: Int) -> (key: Key, next: Int)? {
    guard start < bytes.count else { return nil }
    if bytes[start] == Self.integerTag { return integerKey(at: start) }
    return bytes.withUnsafeBytes { bytes in
      guard let end = bytes.first(Self.terminator, from: start), end > start else { return nil }
      if bytes[start] == 0xFF, end == start + 2, bytes[start + 1] == 0xFF { return (.accounts, end + 1) }
      return Self.text(UnsafeRawBufferPointer(rebasing: bytes[start..<end])).map { (Key(unchecked: $0), end + 1) }
    }
  }

  /// The text of a key that is no integer, of its bytes without the terminator.
  private static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
    guard bytes.contains(where: { $0 >= 0xFE }) else { return String(utf8: bytes) }
    let utf8 = bytes.map { $0 >= 0xFE ? $0 - 0x10 : $0 }
    return utf8.withUnsafeBytes { String(utf8: $0) }
  }

  private func integerKey(at start: Int) -> (key: Key, next: Int)? {
    guard start + 8 <= bytes.count else { return nil }
    let flipped = bytes[start + 1..<start + 5].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let value = Int32(bitPattern: flipped ^ 0x8000_0000)
    let length = Int(bytes[start + 5]) << 8 | Int(bytes[start + 6])
    let negative = value < 0 || (value == 0 && bytes[start + 7] == 0)
    let digits = String(value.magnitude)
    let zeros = length - digits.utf8.count - (negative ? 1 : 0)
    guard zeros >= 0, length <= Key.bytesMax else { return nil }
    let text = (negative ? "-" : "") + String(repeating: "0", count: zeros) + digits
    return (Key(unchecked: text), start + 8)
  }

  /// Where each key ends: the lengths of the byte forms of this path's ancestors and of itself, outermost first.
  public var keyEnds: [Int] {
    var ends: [Int] = []
    var at = 0
    while at < bytes.count, bytes[at] != Self.priorityMark {
      if bytes[at] == Self.integerTag {
        at += 8
      } else {
        guard let end = bytes.withUnsafeBytes({ $0.first(Self.terminator, from: at) }) else { break }
        at = end + 1
      }
      ends.append(at)
    }
    return ends
  }
}
