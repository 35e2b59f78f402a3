import TreeModel

/// Undoes percent-encoding (RFC 3986 §2.1).
package enum PercentDecoding {
  /// The decoded bytes as text.
  ///
  /// - Parameter plusIsSpace: whether `+` stands for a space, as in a query.
  /// - Returns: nil for a `%` without two hexadecimal digits, and for bytes that are not UTF-8.
  package static func text(_ bytes: Slice<UnsafeRawBufferPointer>, plusIsSpace: Bool = false) -> String? {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    let isPlain = bytes.allSatisfy { $0 != UInt8(ascii: "%") && $0 < 0x80 && !(plusIsSpace && $0 == UInt8(ascii: "+")) }
    if isPlain { return String(decoding: bytes, as: UTF8.self) }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
        decoded.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
      default: decoded.append(byte)
      }
    }
    return decoded.withUnsafeBytes { String(utf8: $0) }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
