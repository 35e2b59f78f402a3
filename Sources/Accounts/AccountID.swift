import TreeModel

/// The lasting name of an account: what the tree, the ledger and the tokens call a player.
package struct AccountID: Sendable, Hashable, CustomStringConvertible {
  /// Between 1 and 128 characters, none of them a control character.
  package let text: String

  /// A name that an administrator chose, or that an import brings; nil if it is none.
  package init?(_ text: String) {
    guard (1...128).contains(text.unicodeScalars.count), text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      return nil
    }
    self.text = text
  }

  /// A fresh name: 28 letters and digits, 166 random bits.
  static func random(using generator: inout some RandomNumberGenerator) -> AccountID {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    let characters = (0..<28).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] }
    return AccountID(unchecked: String(decoding: characters, as: UTF8.self))
  }

  private init(unchecked text: String) {
    self.text = text
  }

  package var description: String { text }
}

/// A telephone number: a plus, then digits.
package struct PhoneNumber: Sendable, Hashable, CustomStringConvertible {
  /// As `+4915112345678`.
  package let text: String

  /// Reads a number; nil for anything but a plus and 2 to 29 digits.
  package init?(_ text: String) {
    guard text.utf8.first == UInt8(ascii: "+"), (3...30).contains(text.utf8.count),
      text.utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    self.text = text
  }

  package var description: String { text }
}

/// The name of an identity provider, as accounts keep it: `google.com`, `oidc.guild`.
package struct ProviderID: Sendable, Hashable, CustomStringConvertible {
  package let text: String

  /// Reads a name; nil for anything but 1 to 128 letters, digits, dots, hyphens and underscores: names of providers are part
  /// of paths and of tokens.
  package init?(_ text: String) {
    let isLegal =
      (1...128).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
          || [0x2E, 0x2D, 0x5F].contains(byte)
      }
    guard isLegal else { return nil }
    self.text = text
  }

  package var description: String { text }
}

extension EmailAddress {
  /// The key under which limits count an address of an account; one that was stored before addresses were checked this
  /// strictly counts as it is.
  static func limitKey(_ stored: String) -> String { EmailAddress(stored)?.deliveryIdentity ?? stored }
}
