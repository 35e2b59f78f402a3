import TreeModel

/// An ID token as emulators accept it: whatever it claims is believed, its signature is not looked at.
enum UnsignedToken {
  /// The user that the token names; nil if it is no token.
  static func uid(of token: String) -> String? {
    let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(parts[1]), let claims = try? JSONParser.parse(payload),
      let uid = claims["user_id"]?.string ?? claims["sub"]?.string ?? claims["uid"]?.string, !uid.isEmpty
    else { return nil }
    return uid
  }
}

/// Base64 with the alphabet of URLs, padding optional (RFC 4648 §5).
enum Base64URL {
  /// nil if a character does not belong there.
  static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer: UInt32 = 0
    var bitCount: UInt32 = 0
    for character in text where character != UInt8(ascii: "=") {
      guard let value = digit(character) else { return nil }
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

  private static func digit(_ character: UInt8) -> UInt32? {
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
