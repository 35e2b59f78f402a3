/// A URL cut into its components (RFC 3986 appendix B). Nothing is decoded, and only the scheme is checked: who reads a URL
/// decides what it may hold.
///
/// The text is cut by bytes, as browsers do it: a separator with a combining accent behind it is a separator all the same.
package struct URLParts: Sendable, Hashable {
  /// What is before the first colon, as it is written; nil if the text does not begin with a scheme.
  package let scheme: Substring?
  /// What follows `//`; nil if nothing does.
  package let authority: Substring?
  /// Empty, or with its leading slash if there is an authority.
  package let path: Substring
  /// Behind the first `?`; nil if there is none.
  package let query: Substring?
  /// Behind the first `#`; nil if there is none.
  package let fragment: Substring?

  /// Cuts a text.
  package init(_ text: some StringProtocol) {
    var rest = Substring(text)
    (rest, fragment) = Self.cut(rest, at: UInt8(ascii: "#"))
    (rest, query) = Self.cut(rest, at: UInt8(ascii: "?"))
    if let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
      scheme = rest[..<colon]
      rest = Substring(rest.utf8[colon...].dropFirst())
    } else {
      scheme = nil
    }
    if rest.utf8.starts(with: "//".utf8) {
      rest = Substring(rest.utf8.dropFirst(2))
      let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
      authority = rest[..<end]
      rest = rest[end...]
    } else {
      authority = nil
    }
    path = rest
  }

  private static func cut(_ text: Substring, at mark: UInt8) -> (Substring, Substring?) {
    guard let index = text.utf8.firstIndex(of: mark) else { return (text, nil) }
    return (text[..<index], Substring(text.utf8[index...].dropFirst()))
  }

  /// A letter, then letters, digits and `+-.` (RFC 3986 §3.1).
  private static func isScheme(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, (97...122).contains(first | 0x20) else { return false }
    return text.utf8.allSatisfy { (97...122).contains($0 | 0x20) || (48...57).contains($0) || "+-.".utf8.contains($0) }
  }
}

/// The authority of a URL, or the value of a `Host` header, cut into its components (RFC 3986 §3.2).
package struct URLAuthority: Sendable, Hashable {
  /// What is before the last `@`; nil if there is none.
  package let userInfo: Substring?
  /// The name or address, without the brackets of IPv6. It may be empty.
  package let host: Substring
  /// Whether brackets stood around the host.
  package let isBracketed: Bool
  /// Behind the colon, as it is written; nil if there is none.
  package let port: Substring?

  /// Cuts a text.
  ///
  /// - Returns: nil if a bracket is not closed, or something other than a port follows it.
  package init?(_ text: some StringProtocol) {
    var rest = Substring(text)
    if let at = rest.utf8.lastIndex(of: UInt8(ascii: "@")) {
      userInfo = rest[..<at]
      rest = Substring(rest.utf8[at...].dropFirst())
    } else {
      userInfo = nil
    }
    isBracketed = rest.utf8.first == UInt8(ascii: "[")
    if isBracketed {
      guard let end = rest.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      host = Substring(rest.utf8[..<end].dropFirst())
      rest = Substring(rest.utf8[end...].dropFirst())
      guard rest.isEmpty || rest.utf8.first == UInt8(ascii: ":") else { return nil }
    } else {
      let end = rest.utf8.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
      host = rest[..<end]
      rest = rest[end...]
    }
    port = rest.isEmpty ? nil : Substring(rest.utf8.dropFirst())
  }

  /// The port as a number; nil if it is not 1 to 65535 in decimal digits.
  package var portNumber: Int? {
    guard let port, port.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(port), (1...65_535).contains(number)
    else { return nil }
    return number
  }
}
