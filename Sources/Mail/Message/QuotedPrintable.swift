/// Text as lines of at most 76 characters of ASCII (RFC 2045 §6.7).
enum QuotedPrintable {
  private static let lineMax = 76
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// The encoded text; line ends of every kind become CR LF.
  static func encode(_ text: String) -> String {
    var result: [UInt8] = []
    var width = 0
    func put(_ piece: [UInt8]) {
      // The last place of a line is for the sign that it goes on.
      if width + piece.count > lineMax - 1 {
        result += [UInt8(ascii: "="), 13, 10]
        width = 0
      }
      result += piece
      width += piece.count
    }
    let bytes = Array(text.utf8)
    for (index, byte) in bytes.enumerated() {
      let next = index + 1 < bytes.count ? bytes[index + 1] : 10
      switch byte {
      case 13 where next == 10 && index + 1 < bytes.count: break
      case 10, 13:
        result += [13, 10]
        width = 0
      // Blanks at the end of a line are lost on the way.
      case 32, 9: put(next == 10 || next == 13 ? escape(byte) : [byte])
      case 33..<61, 62..<127: put([byte])
      default: put(escape(byte))
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func escape(_ byte: UInt8) -> [UInt8] {
    [UInt8(ascii: "="), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}
