import TreeModel

/// An ``EmailAddress`` of a person as it was written, with the name that is shown, or without.
///
/// The address is ASCII: those in other alphabets need an extension that few servers between here and there have (RFC 6531).
/// Names may be in any.
public struct MailAddress: Sendable, Hashable, CustomStringConvertible {
  /// Why a text is no address.
  public struct Fault: Error, Sendable, Hashable {
    /// What is wrong, and what to do.
    public let message: String
  }

  /// What is shown instead of the address; nil if nothing is.
  public let name: String?
  /// Such as `bob@example.com`.
  public let address: String

  /// Reads `bob@example.com`, `Bob <bob@example.com>` and `"Bob, the pirate" <bob@example.com>`.
  public init(parsing text: String) throws(Fault) {
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
  public init(_ address: String, name: String?) throws(Fault) {
    guard address.utf8.allSatisfy({ $0 < 0x80 }) else {
      throw Fault(message: "The address \"\(address)\" has characters beyond ASCII; such mail cannot be sent.")
    }
    guard EmailAddress(address) != nil else {
      throw Fault(message: "\"\(address)\" is no address; write it as bob@example.com or Bob <bob@example.com>.")
    }
    let clean = name.map { $0.withoutControls.trimmingBlanks }
    self.address = address
    self.name = clean?.isEmpty == false ? clean : nil
  }

  /// What stands behind the `@`.
  public var domain: Substring { address[address.index(after: address.lastIndex(of: "@") ?? address.startIndex)...] }

  public var description: String { name.map { "\($0) <\(address)>" } ?? address }
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
