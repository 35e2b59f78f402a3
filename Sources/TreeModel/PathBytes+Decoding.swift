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

  /// The path that these bytes stand for; of a priority's place, the path of its node.
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
