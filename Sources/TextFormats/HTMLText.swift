/// Text from elsewhere in pages and mails of ours.
package enum HTMLText {
  /// The text for HTML, where it means itself between tags and in an attribute in single or double quotes.
  ///
  /// Control characters other than tabs and line ends become spaces: HTML does not allow them, and a parser drops NUL, which
  /// would join what it separates.
  package static func escaped(_ text: some StringProtocol) -> String {
    guard text.utf8.contains(where: { replacement(of: $0) != nil }) else { return String(text) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count + 16)
    for byte in text.utf8 {
      if let replacement = replacement(of: byte) { bytes.append(contentsOf: replacement.utf8) } else { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func replacement(of byte: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "&"): "&amp;"
    case UInt8(ascii: "<"): "&lt;"
    case UInt8(ascii: ">"): "&gt;"
    case UInt8(ascii: "\""): "&quot;"
    case UInt8(ascii: "'"): "&#39;"
    case 0..<9, 11, 12, 14..<32, 127: " "
    default: nil
    }
  }
}
