import TreeModel

/// Percent-encoding of URLs (RFC 3986 §2.1), over bytes.
enum PercentCoding {
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// Encodes everything but letters, digits and `-._~`.
  static func encode(_ text: some StringProtocol) -> String { PercentEncoding.segment(text) }

  /// Encodes what may not stand in a URL at all: controls, blanks, quotes, angle brackets, backslashes, bytes beyond ASCII.
  static func encodeIllegal(_ text: some StringProtocol) -> String {
    guard text.utf8.contains(where: isIllegal) else { return String(text) }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if isIllegal(byte) { append(byte, to: &bytes) } else { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Undoes it. `+` stays a plus.
  ///
  /// - Returns: nil for a `%` without two digits, and for bytes that are not UTF-8.
  static func decode(_ text: some StringProtocol) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var decoded: [UInt8] = []
    var rest = text.utf8.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        decoded.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(value), let low = rest.next().flatMap(value) else { return nil }
      decoded.append(high << 4 | low)
    }
    return String(validating: decoded, as: UTF8.self)
  }

  private static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "%"))
    bytes.append(digits[Int(byte >> 4)])
    bytes.append(digits[Int(byte & 15)])
  }

  private static func isIllegal(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte >= 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
      || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "`")
  }

  private static func value(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
