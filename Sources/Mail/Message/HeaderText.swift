import TreeModel

/// Texts of people in headers, which are ASCII (RFC 2047).
enum HeaderText {
  /// Bytes of text that one encoded word holds: with what is around it, it stays below 75 characters.
  private static let wordBytesMax = 42
  private static let plainMax = 60

  /// A subject.
  static func unstructured(_ text: String) -> String {
    isPlain(text) ? text : encoded(text)
  }

  /// A name before an address.
  static func phrase(_ text: String) -> String {
    guard isPlain(text) else { return encoded(text) }
    var quoted = "\""
    for character in text {
      if character == "\"" || character == "\\" { quoted.append("\\") }
      quoted.append(character)
    }
    return quoted + "\""
  }

  /// Whether the text can stand as it is: short, printable, and nothing that looks encoded.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.count <= plainMax && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && !text.contains("=?")
      && text.first != " " && text.last != " "
  }

  /// Encoded words, each on a line of its own, none of which ends inside a character.
  private static func encoded(_ text: String) -> String {
    var words: [[UInt8]] = [[]]
    for scalar in text.withoutControls.unicodeScalars {
      let bytes = Array(String(scalar).utf8)
      if words[words.count - 1].count + bytes.count > wordBytesMax { words.append([]) }
      words[words.count - 1] += bytes
    }
    return words.map { "=?UTF-8?B?\(Base64.encode($0, as: .standard))?=" }.joined(separator: "\r\n ")
  }
}
