/// Form-encoded text, `a=1&b=2`: as tolerant as browsers, for iOS leaves some of it unescaped.
enum FormFields {
  static func parse(_ text: some StringProtocol) -> [(name: String, value: String)] {
    String(text).utf8.split(separator: UInt8(ascii: "&")).map { piece in
      let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
      let value = equals == piece.endIndex ? piece[equals...] : piece[piece.index(after: equals)...]
      return (decode(piece[..<equals]), decode(value))
    }
  }

  /// Everything but letters, digits and `-._~` as `%XX`.
  static func encode(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || "-._~".utf8.contains(byte)
      if isPlain { bytes.append(byte) } else { bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func decode(_ bytes: some Collection<UInt8>) -> String {
    var decoded: [UInt8] = []
    let bytes = Array(bytes)
    var at = 0
    while at < bytes.count {
      if bytes[at] == UInt8(ascii: "%"), at + 2 < bytes.count, let high = digit(bytes[at + 1]), let low = digit(bytes[at + 2]) {
        decoded.append(high << 4 | low)
        at += 3
      } else {
        decoded.append(bytes[at] == UInt8(ascii: "+") ? 0x20 : bytes[at])
        at += 1
      }
    }
    return String(decoding: decoded, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}
