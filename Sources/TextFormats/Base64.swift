/// Base64 in both of its alphabets (RFC 4648 §4 and §5).
package enum Base64 {
  /// The characters for 62 and 63, and whether the end is padded with `=`.
  package enum Alphabet: Sendable {
    /// `+` and `/`, padded.
    case standard
    /// `-` and `_`, not padded: for URLs and tokens.
    case url
  }

  /// The text of the bytes.
  package static func encode(_ bytes: some Sequence<UInt8>, as alphabet: Alphabet) -> String {
    // From here on nothing is generic: callers in other modules get this loop unspecialized otherwise.
    let bytes = Array(bytes)
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var buffer: UInt32 = 0
    var bitCount: UInt32 = 0
    func append(_ value: UInt32) { text.append(character(UInt8(truncatingIfNeeded: value & 63), alphabet: alphabet)) }
    for byte in bytes {
      buffer = buffer << 8 | UInt32(byte)
      bitCount += 8
      while bitCount >= 6 {
        bitCount -= 6
        append(buffer >> bitCount)
      }
      buffer &= (1 << bitCount) - 1
    }
    if bitCount > 0 { append(buffer << (6 - bitCount)) }
    if case .standard = alphabet { while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) } }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of a text in either alphabet, padded or not; nil if a character does not belong there.
  package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer: UInt32 = 0
    var bitCount: UInt32 = 0
    for character in text where character != UInt8(ascii: "=") {
      guard let value = value(of: character) else { return nil }
      buffer = buffer << 6 | value
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> bitCount))
        buffer &= (1 << bitCount) - 1
      }
    }
    return bytes
  }

  private static func character(_ value: UInt8, alphabet: Alphabet) -> UInt8 {
    switch (value, alphabet) {
    case (0..<26, _): value + 65
    case (26..<52, _): value + 71
    case (52..<62, _): value - 4
    case (62, .standard): UInt8(ascii: "+")
    case (62, .url): UInt8(ascii: "-")
    case (_, .standard): UInt8(ascii: "/")
    case (_, .url): UInt8(ascii: "_")
    }
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character) - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character) + 4
    case UInt8(ascii: "-"), UInt8(ascii: "+"): 62
    case UInt8(ascii: "_"), UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
