/// Percent-encoding (RFC 3986 §2.1), over the bytes of UTF-8.
package enum PercentEncoding {
  /// Encodes everything but letters, digits and `-._~`: for one segment of a path, or one name or value of a query.
  package static func encode(_ text: some StringProtocol) -> String {
    encode(text, where: { !isUnreserved($0) })
  }

  /// Encodes the bytes that `mustEscape` names, in upper-case digits.
  package static func encode(_ text: some StringProtocol, where mustEscape: (UInt8) -> Bool) -> String {
    guard text.utf8.contains(where: mustEscape) else { return String(text) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count + 8)
    for byte in text.utf8 {
      if mustEscape(byte) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(Hex.digit(byte >> 4, uppercase: true))
        bytes.append(Hex.digit(byte & 15, uppercase: true))
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Encodes only what may not occur in a URL at all: controls, blanks, quotes, angle brackets, backslashes, backticks and
  /// bytes beyond ASCII.
  package static func encodeIllegal(_ text: some StringProtocol) -> String {
    encode(text) { byte in byte <= 0x20 || byte >= 0x7F || "\"<>\\`".utf8.contains(byte) }
  }

  /// Undoes the encoding; `+` stays a plus.
  ///
  /// - Returns: nil for a `%` without two hexadecimal digits, and for bytes that are not UTF-8.
  package static func decode(_ text: some StringProtocol) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var text = String(text)
    return text.withUTF8 { decode(UnsafeRawBufferPointer($0)) }
  }

  /// As above, of bytes in memory.
  ///
  /// - `plusIsSpace`: whether `+` stands for a space, as in a query.
  package static func decode(_ bytes: UnsafeRawBufferPointer, plusIsSpace: Bool = false) -> String? {
    let isPlain = bytes.allSatisfy { $0 != UInt8(ascii: "%") && $0 < 0x80 && !(plusIsSpace && $0 == UInt8(ascii: "+")) }
    if isPlain { return String(decoding: bytes, as: UTF8.self) }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.next().flatMap(Hex.value), let low = rest.next().flatMap(Hex.value) else { return nil }
        decoded.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
      default: decoded.append(byte)
      }
    }
    // Decoding repairs what is not UTF-8, and a repaired text has other bytes. This costs much less than
    // `String(validating:as:)`, which goes through generic code.
    let text = String(decoding: decoded, as: UTF8.self)
    return text.utf8.elementsEqual(decoded) ? text : nil
  }

  /// Letters, digits and `-._~` (RFC 3986 §2.3).
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }
}

/// Form-encoded text, `a=1&b=2`, read as leniently as browsers read it (WHATWG URL, "application/x-www-form-urlencoded
/// parsing"): what is not a valid escape means itself.
package enum FormEncoding {
  /// One field of a form, decoded.
  package typealias Field = (name: String, value: String)

  /// The fields in order; a field without `=` has an empty value.
  package static func parse(_ text: some StringProtocol) -> [Field] {
    String(text).utf8.split(separator: UInt8(ascii: "&")).map { piece in
      let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
      let value = equals == piece.endIndex ? piece[equals...] : piece[piece.index(after: equals)...]
      return (decode(piece[..<equals]), decode(value))
    }
  }

  private static func decode(_ piece: some Collection<UInt8>) -> String {
    let bytes = Array(piece)
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var at = 0
    while at < bytes.count {
      if bytes[at] == UInt8(ascii: "%"), at + 2 < bytes.count, let high = Hex.value(of: bytes[at + 1]),
        let low = Hex.value(of: bytes[at + 2])
      {
        decoded.append(high << 4 | low)
        at += 3
      } else {
        decoded.append(bytes[at] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[at])
        at += 1
      }
    }
    return String(decoding: decoded, as: UTF8.self)
  }
}
