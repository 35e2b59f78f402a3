/// The last part of a short link: what it may be, and how it is made.
package enum LinkSuffix {
  /// How the suffix of a new link is chosen: `suffix.option` of
  /// https://firebase.google.com/docs/reference/dynamic-links/link-shortener, and a suffix of one's own.
  package enum Option: String, Sendable, Hashable {
    /// 17 characters from 96 random bits: nobody guesses one.
    case unguessable = "UNGUESSABLE"
    /// As short as the space allows, at least four characters.
    case short = "SHORT"
    /// Chosen by an administrator.
    case custom = "CUSTOM"
  }

  /// First segments that other surfaces answer on a link host.
  static let reserved: Set<String> = [
    "i", "link", ".well-known", "apple-app-site-association", "v1", "admin", "console", "healthz", "readyz", "metrics", "log",
    "invites", "emulator", "token", "identitytoolkit.googleapis.com", "securetoken.googleapis.com", "www.googleapis.com",
    "favicon.ico", "robots.txt", "unsubscribe",
  ]
  /// The longest custom suffix.
  static let lengthMax = 64

  private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  /// For people who type: no 0 and O, no 1, I and L, no U.
  private static let codeAlphabet = Array("23456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

  /// 96 random bits in base 62, filled up with zeros to 17 characters.
  static func unguessable(using random: inout some RandomNumberGenerator) -> String {
    var high = UInt64.random(in: 0...UInt64(UInt32.max), using: &random)
    var low = UInt64.random(in: 0...UInt64.max, using: &random)
    var characters: [UInt8] = []
    for _ in 0..<17 {
      // (high, low) divided by 62; the remainder of the high part is carried into the low one.
      let (quotient, remainder) = high.quotientAndRemainder(dividingBy: 62)
      let (lowQuotient, digit) = UInt64(62).dividingFullWidth((remainder, low))
      characters.append(alphabet[Int(digit)])
      (high, low) = (quotient, lowQuotient)
    }
    return String(decoding: characters.reversed(), as: UTF8.self)
  }

  /// Random characters in base 62.
  static func short(_ length: Int, using random: inout some RandomNumberGenerator) -> String {
    String(
      decoding: (0..<length).map { _ in alphabet[Int.random(in: 0..<62, using: &random)] }, as: UTF8.self)
  }

  /// Eight characters that a person can read out and type: 39 bits.
  static func code(using random: inout some RandomNumberGenerator) -> String {
    String(
      decoding: (0..<8).map { _ in codeAlphabet[Int.random(in: 0..<codeAlphabet.count, using: &random)] }, as: UTF8.self)
  }

  /// What a person typed, as it is kept: upper case, without blanks and hyphens; look-alikes are put right.
  ///
  /// - Returns: nil if it is no code.
  package static func normalizedCode(_ text: String) -> String? {
    var characters: [UInt8] = []
    for byte in text.uppercased().utf8 where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "-") {
      guard codeAlphabet.contains(byte), characters.count < 8 else { return nil }
      characters.append(byte)
    }
    return characters.count == 8 ? String(decoding: characters, as: UTF8.self) : nil
  }

  /// Whether a custom suffix may be taken.
  static func isCustom(_ text: String) -> Bool {
    text.utf8.count <= lengthMax && isSegment(text) && !reserved.contains(text.lowercased())
  }

  /// Letters, digits, `-` and `_`, at least one.
  static func isSegment(_ text: some StringProtocol) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 95
      }
  }

  /// Whether a suffix may be looked up: one segment, or `i/` and one.
  static func isShortForm(_ text: some StringProtocol) -> Bool {
    guard text.utf8.count <= lengthMax + 2 else { return false }
    return isSegment(text) || (text.hasPrefix("i/") && isSegment(text.dropFirst(2)))
  }
}
