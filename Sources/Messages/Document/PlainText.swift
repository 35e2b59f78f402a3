import TextFormats

/// What the texts of messages may hold.
enum PlainText {
  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0x2028 || scalar.value == 0x2029
  }

  /// Marks that change the direction of what follows.
  static func isDirectionMark(_ scalar: Unicode.Scalar) -> Bool {
    (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
  }

  /// Whether every change of direction ends again in the text.
  static func isBalanced(_ text: String) -> Bool {
    var open: [UInt32] = []
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x202A, 0x202B, 0x202D, 0x202E: open.append(0x202C)
      case 0x2066, 0x2067, 0x2068: open.append(0x2069)
      case 0x202C, 0x2069:
        guard open.popLast() == scalar.value else { return false }
      default: continue
      }
    }
    return open.isEmpty
  }

  /// Whether it looks like markup, which is shown as it is.
  static func hasMarkup(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.indices.dropLast().contains { index in
      guard bytes[index] == UInt8(ascii: "<") else { return false }
      let next = bytes[index + 1] | 0x20
      return ((0x61...0x7A).contains(next) || bytes[index + 1] == UInt8(ascii: "/"))
        && bytes[index...].contains(UInt8(ascii: ">"))
    }
  }

  /// Notes what is wrong with a text of a message.
  static func check(_ text: String, at path: String, mayBreakLines: Bool, faults: CampaignFaults) {
    if text.unicodeScalars.contains(where: { isControl($0) && !(mayBreakLines && $0 == "\n") }) {
      faults.refuse(
        "BAD_TEXT", at: path, "It holds a control character; only the body may hold one, the line break \\n.")
    }
    if !isBalanced(text) { faults.refuse("BIDI", at: path, "A mark that changes the direction of text does not end in it.") }
    if hasMarkup(text) { faults.warn("MARKUP", at: path, "Markup is shown as it is: messages are plain text.") }
  }
}

/// Colours of messages.
enum MessageColor {
  /// Red, green and blue of `#RRGGBB`; nil for any other text.
  static func channels(_ text: String) -> [Double]? {
    guard text.utf8.count == 7, text.hasPrefix("#"), let bytes = Hex.decode(text.dropFirst()) else { return nil }
    return bytes.map { Double($0) / 255 }
  }

  /// The contrast of two colours, 1 to 21 (WCAG 2.2, relative luminance); nil if one is no colour.
  static func contrast(_ a: String, with b: String) -> Double? {
    guard let x = channels(a).map(luminance), let y = channels(b).map(luminance) else { return nil }
    return (max(x, y) + 0.05) / (min(x, y) + 0.05)
  }

  private static func luminance(_ channels: [Double]) -> Double {
    let linear = channels.map { $0 <= 0.04045 ? $0 / 12.92 : power(($0 + 0.055) / 1.055) }
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
  }

  /// The power 2.4 of a number from 0 to 1: its square times its two fifths, which a few steps of Newton's give.
  private static func power(_ base: Double) -> Double {
    guard base > 0 else { return 0 }
    let square = base * base
    // root^5 = base^2
    var root = 0.5 + square / 2
    for _ in 0..<40 { root -= (root * root * root * root * root - square) / (5 * root * root * root * root) }
    return square * root
  }
}
