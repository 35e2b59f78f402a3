extension StringProtocol {
  /// The text without characters that would move a terminal's cursor, change its colours or turn the writing direction:
  /// they are shown as escapes. Players choose their keys and values; an admin's terminal is not theirs.
  package var printable: String {
    guard unicodeScalars.contains(where: { $0.isHiddenControl }) else { return String(self) }
    var text = ""
    for scalar in unicodeScalars {
      if scalar.isHiddenControl {
        text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

extension Unicode.Scalar {
  /// Line breaks are left alone.
  fileprivate var isHiddenControl: Bool {
    switch value {
    case 0x0A: false
    case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
