import TextFormats
import TreeModel

/// An absolute URL with a host, taken apart; whatever it holds may stand in a header or in HTML once it is escaped there.
///
/// Stricter than browsers are: no user name, no backslash, no control character, no blank before the host. What browsers
/// would read differently is no URL here, so that a check of the host means what the browser will do.
package struct LinkURL: Sendable, Hashable {
  /// Lower case.
  package let scheme: String
  /// Lower case, without the port.
  package let host: String
  /// With its colon; empty if there is none.
  package let port: String
  /// Begins with a slash, or is empty.
  package let path: String
  /// Behind the first `?`; nil if there is none.
  package let query: String?
  /// Behind the first `#`; nil if there is none.
  package let fragment: String?

  /// Reads a URL.
  ///
  /// - Returns: nil if it is none of the strict kind above. Bytes beyond ASCII, blanks and quotes behind the host are
  ///   percent-encoded.
  package init?(_ text: String) {
    guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }) else { return nil }
    let url = URLParts(text)
    guard let scheme = url.scheme, let authority = url.authority, let (host, port) = Self.authority(authority) else {
      return nil
    }
    self.scheme = scheme.lowercased()
    self.host = host
    self.port = port
    path = PercentEncoding.encodeIllegal(url.path)
    query = url.query.map { PercentEncoding.encodeIllegal($0) }
    fragment = url.fragment.map { PercentEncoding.encodeIllegal($0) }
  }

  /// The URL as it may stand in a header: ASCII, no blanks, no quotes.
  package var text: String {
    var text = "\(scheme)://\(host)\(port)\(path)"
    if let query { text += "?\(query)" }
    if let fragment { text += "#\(fragment)" }
    return text
  }

  /// Whether it is http or https.
  package var isWeb: Bool { scheme == "https" || scheme == "http" }

  /// The parameters of the query, in order, decoded; nil if one is not percent-encoded UTF-8.
  package var parameters: [(name: String, value: String)]? { Self.parameters(of: query ?? "") }

  /// Splits at `&`, then at the first `=`; `+` stays a plus.
  static func parameters(of query: String) -> [(name: String, value: String)]? {
    var parameters: [(name: String, value: String)] = []
    for piece in query.utf8.split(separator: UInt8(ascii: "&")) {
      let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
      let value = equals == piece.endIndex ? piece[equals...] : piece[piece.index(after: equals)...]
      guard let name = PercentEncoding.decode(Substring(piece[..<equals])),
        let decoded = PercentEncoding.decode(Substring(value))
      else { return nil }
      parameters.append((name, decoded))
    }
    return parameters
  }

  private static func authority(_ text: Substring) -> (host: String, port: String)? {
    guard let authority = URLAuthority(text), authority.userInfo == nil, !authority.isBracketed else { return nil }
    let host = authority.host.lowercased()
    guard !host.isEmpty, host.utf8.count <= 253, isHost(host) else { return nil }
    guard authority.port != nil else { return (host, "") }
    return authority.portNumber.map { (host, ":\($0)") }
  }

  /// Labels of letters, digits and hyphens, separated by single dots. International names come in their ASCII form.
  static func isHost(_ host: String) -> Bool {
    host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
      !label.isEmpty && label.count <= 63 && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
        && label.allSatisfy {
          (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
    }
  }
}
