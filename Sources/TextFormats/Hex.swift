/// Bytes as pairs of hexadecimal digits (RFC 4648 §8).
package enum Hex {
  /// Two digits for each byte, in lower case unless asked otherwise.
  package static func encode(_ bytes: some Sequence<UInt8>, uppercase: Bool = false) -> String {
    // From here on nothing is generic: callers in other modules get this loop unspecialized otherwise.
    let bytes = Array(bytes)
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      text.append(digit(byte >> 4, uppercase: uppercase))
      text.append(digit(byte & 15, uppercase: uppercase))
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of digits in either case.
  ///
  /// - Returns: nil for an odd number of digits, and for any other character.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 2)
    var rest = text.utf8.makeIterator()
    while let first = rest.next() {
      guard let high = value(of: first), let low = rest.next().flatMap(value) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// The ASCII character of a value from 0 to 15.
  package static func digit(_ value: UInt8, uppercase: Bool = false) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : (uppercase ? UInt8(ascii: "A") : UInt8(ascii: "a")) + value - 10
  }

  /// The value of an ASCII character; nil if it is not a hexadecimal digit.
  package static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
