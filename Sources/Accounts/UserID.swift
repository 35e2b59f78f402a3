/// The lasting name of an account: what the tree, the ledger and the tokens call a player.
struct UserID: Sendable, Hashable, CustomStringConvertible {
  /// Between 1 and 128 characters.
  let text: String

  /// A name that an administrator chose; nil if it is empty or longer than 128 characters (spec: auth-protocol §2.0).
  init?(_ text: String) {
    guard (1...128).contains(text.unicodeScalars.count) else { return nil }
    self.text = text
  }

  /// A fresh name: 28 letters and digits, 166 random bits.
  static func random(using generator: inout some RandomNumberGenerator) -> UserID {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    let characters = (0..<28).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] }
    return UserID(unchecked: String(decoding: characters, as: UTF8.self))
  }

  private init(unchecked text: String) {
    self.text = text
  }

  var description: String { text }
}
