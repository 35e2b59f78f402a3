import TreeModel

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

/// Numbers as the protocol takes them: a plus, then digits.
enum PhoneNumber {
  static func checked(_ text: String) throws(AccountError) -> String {
    guard text.utf8.first == UInt8(ascii: "+"), (3...30).contains(text.utf8.count),
      text.utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
    else { throw AccountError("INVALID_PHONE_NUMBER", "Invalid format.") }
    return text
  }
}

extension EmailAddress {
  /// The text by which accounts are found: the address in lower case.
  ///
  /// - Throws: `INVALID_EMAIL` for what is no plain address.
  static func normalized(_ text: String) throws(AccountError) -> String {
    guard let address = EmailAddress(text) else { throw AccountError("INVALID_EMAIL") }
    return address.text
  }

  /// The key under which limits count an address of an account; one that was stored before addresses were checked this
  /// strictly counts as it is.
  static func limitKey(_ stored: String) -> String { EmailAddress(stored)?.deliveryIdentity ?? stored }
}
