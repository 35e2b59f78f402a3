package import MailContent
import TreeModel

/// A message for one recipient, before it is encoded.
package struct MailMessage: Sendable, Hashable {
  /// Who it is from.
  package let from: MailAddress
  /// Who it is for.
  package let to: MailAddress
  /// Where an answer goes; nil for the sender.
  package let replyTo: MailAddress?
  /// One line.
  package let subject: String
  /// The text that every reader can show.
  package let text: String
  /// The same as HTML; nil if there is only text.
  package let html: String?
  /// An `https` address that takes the recipient off the list; nil where nobody is on one.
  package let unsubscribe: String?

  /// What an order asks for.
  ///
  /// - `sender`: who it is from where the order does not say.
  /// - Throws: a permanent ``MailError`` for addresses that are none.
  package init(_ order: MailOrder, from sender: MailAddress) throws(MailError) {
    do throws(MailAddressError) {
      let from = try order.from.map { (text) throws(MailAddressError) in try MailAddress(parsing: text) } ?? sender
      self.from = try MailAddress(from.address, name: order.fromName ?? from.name)
      to = try MailAddress(parsing: order.to)
      replyTo = try order.replyTo.map { (text) throws(MailAddressError) in try MailAddress(parsing: text) }
    } catch {
      throw MailError(.permanent, error.message)
    }
    if let link = order.unsubscribe {
      let isLink =
        link.hasPrefix("https://") && link.utf8.count <= 900
        && link.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") }
      guard isLink else { throw MailError(.permanent, "\"unsubscribe\" must be an https address of at most 900 characters.") }
    }
    subject = order.subject.withoutControls
    text = order.text
    html = order.html
    unsubscribe = order.unsubscribe
  }
}

/// An `EmailAddress` of a person as it was written, with the name that is shown, or without.
///
/// The address is ASCII: those in other alphabets need an extension that few servers between here and there have (RFC 6531).
/// Names may be in any.
package struct MailAddress: Sendable, Hashable, CustomStringConvertible {
  /// What is shown instead of the address; nil if nothing is.
  package let name: String?
  /// Such as `bob@example.com`.
  package let address: String

  /// Reads `bob@example.com`, `Bob <bob@example.com>` and `"Bob, the pirate" <bob@example.com>`.
  package init(parsing text: String) throws(MailAddressError) {
    let text = text.trimmingBlanks
    guard text.last == ">", let open = text.lastIndex(of: "<") else {
      try self.init(text, name: nil)
      return
    }
    var name = String(text[..<open]).trimmingBlanks
    if name.count >= 2, name.first == "\"", name.last == "\"" {
      name = String(name.dropFirst().dropLast())
      name.replace("\\\"", with: "\"")
    }
    try self.init(String(text[text.index(after: open)..<text.index(before: text.endIndex)]), name: name)
  }

  /// An address and a name; control characters of the name become blanks.
  package init(_ address: String, name: String?) throws(MailAddressError) {
    guard address.utf8.allSatisfy({ $0 < 0x80 }) else {
      throw MailAddressError(message: "The address \"\(address)\" has characters beyond ASCII; such mail cannot be sent.")
    }
    guard EmailAddress(address) != nil else {
      throw MailAddressError(message: "\"\(address)\" is no address; write it as bob@example.com or Bob <bob@example.com>.")
    }
    let clean = name.map { $0.withoutControls.trimmingBlanks }
    self.address = address
    self.name = clean?.isEmpty == false ? clean : nil
  }

  /// What stands behind the `@`.
  package var domain: Substring { address[address.index(after: address.lastIndex(of: "@") ?? address.startIndex)...] }

  package var description: String { name.map { "\($0) <\(address)>" } ?? address }
}

extension String {
  /// Without blanks at both ends.
  fileprivate var trimmingBlanks: String {
    var text = self[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }

  /// With a blank in the place of each control character: nothing ends a line.
  var withoutControls: String {
    var text = ""
    for scalar in unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) || (0x2028...0x202E).contains(scalar.value)
      text.unicodeScalars.append(isControl ? " " : scalar)
    }
    return text
  }
}

/// Why a mail was not taken.
package struct MailError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Whether trying again could help.
  package enum Kind: Sendable, Hashable {
    /// The server is away, busy or misconfigured: later it may take the mail.
    case temporary
    /// The mail itself is refused, now and for ever.
    case permanent
  }

  /// Whether trying again could help.
  package let kind: Kind
  /// What happened; without the mail's texts, and without passwords.
  package let message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  package var description: String { message }
}

/// Why a text is no mail address.
package struct MailAddressError: Error, Sendable, Hashable {
  /// What is wrong, and what to do.
  package let message: String
}
