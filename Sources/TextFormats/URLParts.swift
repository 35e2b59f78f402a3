/// A URL cut into its components (RFC 3986 appendix B). Nothing is decoded, and only the scheme is checked: the reader of a
/// URL decides what it may hold.
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
    var text = Substring(text)
    let ranges = text.withUTF8 { URLRanges(url: UnsafeRawBufferPointer($0)) }
    func part(_ range: Range<Int>) -> Substring {
      let start = text.utf8.index(text.startIndex, offsetBy: range.lowerBound)
      return text[start..<text.utf8.index(start, offsetBy: range.count)]
    }
    scheme = ranges.scheme.map(part)
    authority = ranges.authority.map(part)
    path = part(ranges.path)
    query = ranges.query.map(part)
    fragment = ranges.fragment.map(part)
  }
}

/// Where the components of a URL, or of an HTTP request's target, are in its bytes. Nothing is copied, because the target of
/// every request is cut by this.
package struct URLRanges: Sendable, Hashable {
  package let scheme: Range<Int>?
  package let authority: Range<Int>?
  package let path: Range<Int>
  package let query: Range<Int>?
  package let fragment: Range<Int>?

  /// Cuts a URL (RFC 3986 appendix B), as ``URLParts``.
  package init(url: UnsafeRawBufferPointer) {
    let end = url.first(UInt8(ascii: "#")) ?? url.count
    self.init(UnsafeRawBufferPointer(rebasing: url[..<end]), fragment: end < url.count ? end + 1..<url.count : nil)
  }

  /// Cuts the target of a request: `/path?query`, or the absolute form `http://host/path?query` that proxies are sent
  /// (RFC 9112 §3.2). What begins with a slash is a path, with two slashes too, and a target has no fragment.
  ///
  /// - Returns: nil for anything else: other forms of a target, and URLs without `//`.
  package init?(requestTarget bytes: UnsafeRawBufferPointer) {
    let isPath = bytes.first == UInt8(ascii: "/")
    self.init(bytes, fragment: nil, isPath: isPath)
    guard isPath || scheme != nil && authority != nil else { return nil }
  }

  /// Cuts what is before the fragment.
  ///
  /// - `isPath`: whether nothing comes before the path.
  private init(_ bytes: UnsafeRawBufferPointer, fragment: Range<Int>?, isPath: Bool = false) {
    let mark = bytes.first(UInt8(ascii: "?"))
    query = mark.map { $0 + 1..<bytes.count }
    let rest = UnsafeRawBufferPointer(rebasing: bytes[..<(mark ?? bytes.count)])
    var start = 0
    if !isPath, let colon = rest.first(UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
      scheme = 0..<colon
      start = colon + 1
    } else {
      scheme = nil
    }
    if !isPath, rest[start...].starts(with: "//".utf8) {
      let end = rest.first(UInt8(ascii: "/"), from: start + 2) ?? rest.count
      authority = start + 2..<end
      start = end
    } else {
      authority = nil
    }
    path = start..<rest.count
    self.fragment = fragment
  }

  /// A letter, then letters, digits and `+-.` (RFC 3986 §3.1).
  private static func isScheme(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let first = bytes.first, (97...122).contains(first | 0x20) else { return false }
    return bytes.allSatisfy { (97...122).contains($0 | 0x20) || (48...57).contains($0) || "+-.".utf8.contains($0) }
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
