import TextFormats

/// An absolute URL, as far as it has to be looked at: a scheme and something behind it.
struct AbsoluteURL {
  let text: String

  init?(_ text: String) {
    guard let colon = text.firstIndex(of: ":"), text.utf8.count <= 8192 else { return nil }
    let scheme = text[..<colon]
    let rest = text[text.index(after: colon)...]
    let isScheme =
      scheme.utf8.first.map { (0x41...0x5A).contains($0 & 0xDF) } == true
      && scheme.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || "+-.".utf8.contains($0) }
    guard isScheme, !rest.isEmpty, rest.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else { return nil }
    if ["http", "https"].contains(scheme.lowercased()) {
      guard rest.hasPrefix("//"), rest.dropFirst(2).first.map({ $0 != "/" && $0 != "?" }) == true else { return nil }
    }
    self.text = text
  }

  /// The host, in lower case; nil where there is none.
  var host: String? {
    guard let slashes = text.firstIndex(of: "/"), text[slashes...].hasPrefix("//") else { return nil }
    let authority = text[text.index(slashes, offsetBy: 2)...].prefix { !"/?#\\".contains($0) }
    let host = authority.split(separator: "@", omittingEmptySubsequences: false).last?.split(separator: ":").first
    return host.map { $0.lowercased() }
  }

  /// The parameters of its query and of its fragment; those of the fragment come last.
  var parameters: [(name: String, value: String)] {
    let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let query = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first ?? ""
    let fragment = parts.count > 1 ? parts[1] : ""
    return FormEncoding.parse(query) + FormEncoding.parse(fragment)
  }

  /// The same with more parameters in its query.
  func appending(_ parameters: [(String, String)]) -> String {
    let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let joined = parameters.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    let mark = parts[0].contains("?") ? (parts[0].hasSuffix("?") || parts[0].hasSuffix("&") ? "" : "&") : "?"
    return parts[0] + mark + joined + (parts.count > 1 ? "#" + parts[1] : "")
  }
}
