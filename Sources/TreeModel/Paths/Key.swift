/// One segment of a ``Path``: a child's name.
///
/// Two keys are the same only if their UTF-8 bytes are: `é` typed as one code point and as `e` with a combining
/// accent are two keys, as they are for the JavaScript, Java and Objective-C clients. Swift's own `String ==` would
/// merge them, so keys are never compared as strings.
public struct Key: Sendable {
  /// The key as text.
  public let text: String

  /// A key's largest size, in UTF-8 bytes (Firebase, "Realtime Database Limits").
  public static let bytesMax = 768

  /// Checks a key as it arrives from outside.
  ///
  /// - Throws: ``PathError`` for an empty key, one over ``bytesMax``, and one with `.`, `$`, `#`, `[`, `]`, `/`, a
  ///   control character or DEL.
  public init(_ text: some StringProtocol) throws(PathError) {
    try self.init(String(text))
  }

  /// As above, of a whole text: what most callers have.
  public init(_ text: String) throws(PathError) {
    var text = text
    let error: PathError? = text.withUTF8 { bytes in
      if bytes.isEmpty { return PathError(.emptyKey, key: "") }
      if bytes.count > Self.bytesMax { return PathError(.keyTooLong, key: String(decoding: bytes.prefix(40), as: UTF8.self)) }
      for byte in bytes where Self.isForbidden(byte) {
        return PathError(.forbiddenCharacter, key: String(decoding: bytes, as: UTF8.self))
      }
      return nil
    }
    if let error { throw error }
    self.text = text
  }

  /// A key that is already known to be legal: decoded from storage, or written in the source.
  public init(unchecked text: String) {
    self.text = text
  }

  /// The key that some ASCII bytes spell as they are; nil if they are no key, or may be one that is written another way: with
  /// letters beyond ASCII, or percent-encoded.
  public init?(plain bytes: UnsafeRawBufferPointer) {
    guard !bytes.isEmpty, bytes.count <= Self.bytesMax,
      bytes.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") && !Self.isForbidden($0) })
    else { return nil }
    text = String(decoding: bytes, as: UTF8.self)
  }

  @inline(__always)
  static func isForbidden(_ byte: UInt8) -> Bool {
    switch byte {
    case 0..<0x20, 0x7F, UInt8(ascii: "."), UInt8(ascii: "$"), UInt8(ascii: "#"), UInt8(ascii: "["),
      UInt8(ascii: "]"), UInt8(ascii: "/"):
      true
    default: false
    }
  }

  /// The number that a key stands for in ordering: `-?` digits within the range of int32 (leading zeros allowed).
  public var integer: Int32? {
    var text = self.text
    return text.withUTF8 { bytes in
      guard let first = bytes.first, first == UInt8(ascii: "-") || (48...57).contains(first) else { return nil }
      let negative = first == UInt8(ascii: "-")
      let digits = bytes.dropFirst(negative ? 1 : 0)
      guard !digits.isEmpty else { return nil }
      var value: Int64 = 0
      for digit in digits {
        guard (48...57).contains(digit) else { return nil }
        value = value * 10 + Int64(digit - 48)
        if value > 2_147_483_648 { return nil }
      }
      return Int32(exactly: negative ? -value : value)
    }
  }
}

extension Key: Hashable {
  /// Equality of the UTF-8 bytes.
  public static func == (a: Key, b: Key) -> Bool {
    var x = a.text
    var y = b.text
    return x.withUTF8 { p in y.withUTF8 { q in p.count == q.count && p.elementsEqual(q) } }
  }

  /// Hashes the UTF-8 bytes.
  public func hash(into hasher: inout Hasher) {
    var text = self.text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension Key: Comparable {
  /// The order of children: integers first, by value (the shorter spelling first), then by UTF-16 code units.
  public static func < (a: Key, b: Key) -> Bool {
    switch (a.integer, b.integer) {
    case (let x?, let y?):
      if x != y { return x < y }
      let m = a.text.utf8.count
      let n = b.text.utf8.count
      // "-0" and "00" have one value and one length; the bytes decide, so that the order is total.
      return m != n ? m < n : a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
    case (_?, nil): return true
    case (nil, _?): return false
    case (nil, nil): return a.text.utf16Precedes(b.text)
    }
  }
}

extension Key: CustomStringConvertible {
  /// The key as text.
  public var description: String { text }
}

extension String {
  /// Order by UTF-16 code units, as JavaScript compares strings.
  ///
  /// UTF-8's byte order is the same but for the characters beyond U+FFFF: as surrogates they come before U+E000...U+FFFF,
  /// whose lead bytes are therefore lifted.
  func utf16Precedes(_ other: String) -> Bool {
    var a = self
    var b = other
    return a.withUTF8 { x in
      b.withUTF8 { y in
        for (p, q) in zip(x, y) where p != q {
          return (p == 0xEE || p == 0xEF ? p + 0x10 : p) < (q == 0xEE || q == 0xEF ? q + 0x10 : q)
        }
        return x.count < y.count
      }
    }
  }
}

/// The beginning of a key, in a form that is compared at once: of two keys whose heads differ, the one with the smaller head
/// comes first. Of equal heads nothing is known.
struct KeyPrefix: Comparable {
  /// Integers come before everything else.
  private let isText: Bool
  /// An integer's value, moved so that none is negative; of a text the first eight bytes, in the order of its UTF-16 units.
  private let value: UInt64

  init(_ key: Key) {
    if let integer = key.integer {
      isText = false
      value = UInt64(Int64(integer) - Int64(Int32.min))
      return
    }
    isText = true
    var text = key.text
    value = text.withUTF8 { bytes in
      var head: UInt64 = 0
      for index in 0..<8 {
        let byte = index < bytes.count ? bytes[index] : 0
        head = head << 8 | UInt64(byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte)
      }
      return head
    }
  }

  static func < (a: KeyPrefix, b: KeyPrefix) -> Bool {
    a.isText == b.isText ? a.value < b.value : b.isText
  }
}
