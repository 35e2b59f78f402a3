import TextFormats

/// An absolute URL, as far as it has to be looked at: a scheme and something behind it.
package struct AbsoluteURL {
  package let text: String
  private let parts: URLParts

  package init?(_ text: String) {
    parts = URLParts(text)
    guard text.utf8.count <= 8192, let scheme = parts.scheme, scheme.utf8.count + 1 < text.utf8.count,
      text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
    else { return nil }
    if ["http", "https"].contains(scheme.lowercased()), parts.authority?.isEmpty ?? true { return nil }
    self.text = text
  }

  /// The host, in lower case; nil where there is none.
  package var host: String? {
    // Browsers take a backslash for a slash, so what follows it belongs to the path.
    guard let authority = parts.authority, let host = URLAuthority(authority.prefix { $0 != "\\" })?.host, !host.isEmpty else {
      return nil
    }
    return host.lowercased()
  }

  /// The parameters of its query and of its fragment; those of the fragment come last.
  package var parameters: [(name: String, value: String)] {
    FormEncoding.parse(parts.query ?? "") + FormEncoding.parse(parts.fragment ?? "")
  }

  /// The same with more parameters in its query.
  package func appending(_ parameters: [(String, String)]) -> String {
    let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let joined = parameters.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    let mark = parts[0].contains("?") ? (parts[0].hasSuffix("?") || parts[0].hasSuffix("&") ? "" : "&") : "?"
    return parts[0] + mark + joined + (parts.count > 1 ? "#" + parts[1] : "")
  }
}
