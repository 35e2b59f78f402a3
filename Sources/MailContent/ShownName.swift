/// A player's name as mails of the game show it: anybody may have any name, and mails go to people who never chose it.
public enum ShownName {
  /// The longest name, in characters.
  public static let charactersMax = 40

  /// The name on one line, cut, without what is not seen; empty if there is an address of the web or of mail in it.
  public static func of(_ name: String) -> String {
    AddressSpotter.finds(in: name) ? "" : oneLine(name)
  }

  /// The name on one line, cut, without what is not seen; for what the player sends and answers for.
  public static func oneLine(_ name: String) -> String {
    // Joiners are part of letters and emoji; what turns the direction is not.
    let seen = name.unicodeScalars.filter {
      $0.properties.generalCategory != .format || $0 == "\u{200C}" || $0 == "\u{200D}"
    }
    let words = seen.split { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
    return String(words.map { String(String.UnicodeScalarView($0)) }.joined(separator: " ").prefix(charactersMax))
  }
}
