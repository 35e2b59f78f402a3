/// Finds what mail programs make links of: in mails that the server sends for players nobody but the game may say where to go.
package enum AddressDetector {
  /// Dots of other scripts, which browsers take for a dot in a host's name.
  private static let foreignDots: Set<Unicode.Scalar> = ["\u{3002}", "\u{FF0E}", "\u{FF61}", "\u{2024}"]

  /// Whether there is a web or mail address in a text, or something that reads like one: `https://x`, `www.x`, `evil.com/x`,
  /// `evil(dot)com` not, `10.0.0.1`, `bob@x`. Rather too often than too seldom: who forgot a blank behind a full stop is asked.
  package static func finds(in text: String) -> Bool {
    // What is not shown does not separate.
    let shown = text.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }.map(plain)
    return shown.split { $0.properties.isWhitespace || "<>()[]{}\"'|,;!?".unicodeScalars.contains($0) }.contains { word in
      isAddress(Array(word))
    }
  }

  /// A letter, digit or mark of addresses in the width of Chinese and Japanese as browsers read it; the dot there ends sentences,
  /// too, and is looked at for itself.
  private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar {
    case "\u{FF0F}"..."\u{FF1A}", "\u{FF20}"..."\u{FF3A}", "\u{FF41}"..."\u{FF5A}":
      Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar
    default: scalar
    }
  }

  private static func isAddress(_ word: [Unicode.Scalar]) -> Bool {
    for index in word.indices.dropFirst().dropLast() {
      let (before, after) = (word[index - 1], word[index + 1])
      switch word[index] {
      case "@":
        if isNamePart(before), isNamePart(after) { return true }
      case ":":
        if after == "/", index + 2 < word.count, word[index + 2] == "/" { return true }
      case ".":
        if isNamePart(before), isEnding(word[(index + 1)...]) { return true }
      case let dot where foreignDots.contains(dot):
        // A full stop of Chinese and Japanese, unless both sides are Latin.
        if before.isASCII, after.isASCII, isNamePart(before), isEnding(word[(index + 1)...]) { return true }
      default: break
      }
    }
    return false
  }

  /// Whether the text behind a dot could end a host's name: two letters or more, or the next number of an address in numbers.
  private static func isEnding(_ rest: ArraySlice<Unicode.Scalar>) -> Bool {
    let part = rest.prefix { isNamePart($0) }
    // No top-level name begins with a digit: 2.5kg is none.
    if part.count >= 2, part.first?.properties.isAlphabetic == true { return true }
    let numbers = rest.split(omittingEmptySubsequences: false) { $0 == "." }
    return numbers.count >= 3
      && numbers.prefix(2).allSatisfy { number in
        (1...3).contains(number.count) && number.allSatisfy { ("0"..."9").contains($0) }
      }
  }

  private static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "-"
      || scalar.properties.generalCategory == .nonspacingMark
  }
}

/// A player's name as mails of the game show it: anybody may have any name, and mails go to people who never chose it.
package enum DisplayName {
  /// The longest name, in characters.
  package static let charactersMax = 40

  /// The name on one line, cut, without what is not seen; empty if there is an address of the web or of mail in it.
  package static func of(_ name: String) -> String {
    AddressDetector.finds(in: name) ? "" : oneLine(name)
  }

  /// The name on one line, cut, without what is not seen; for what the player sends and answers for.
  package static func oneLine(_ name: String) -> String {
    // Joiners are part of letters and emoji; what turns the direction is not.
    let seen = name.unicodeScalars.filter {
      $0.properties.generalCategory != .format || $0 == "\u{200C}" || $0 == "\u{200D}"
    }
    let words = seen.split { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
    return String(words.map { String(String.UnicodeScalarView($0)) }.joined(separator: " ").prefix(charactersMax))
  }
}
