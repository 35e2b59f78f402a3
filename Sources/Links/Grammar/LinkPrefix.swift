/// Where links live: an https host, with a path or without (`https://go.acme.test/r`).
package struct LinkPrefix: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Lower case, with a port if it is not 443.
  package let host: String
  /// `/r`, or empty; never ends in a slash.
  package let path: String

  /// Reads `https://host/path`; a trailing slash is dropped.
  ///
  /// - Returns: nil for anything but https, and for a path whose segments are not letters, digits, `-`, `_`.
  package init?(_ text: String) {
    guard let url = LinkURL(text), url.scheme == "https", url.query == nil, url.fragment == nil else { return nil }
    host = url.host + url.port
    let segments = url.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    let names = segments.last?.isEmpty == true ? segments.dropLast() : segments
    guard names.allSatisfy({ LinkSuffix.isSegment($0) }) else { return nil }
    path = names.map { "/\($0)" }.joined()
    key = host + path
  }

  /// As it was configured: `https://go.acme.test/r`.
  package var description: String { "https://\(host)\(path)" }

  /// What stands before a suffix in keys of records: `go.acme.test/r`.
  package let key: String

  /// The key of a short link's record: `go.acme.test/r/aB3x`.
  package func key(of suffix: Substring) -> String {
    var text = ""
    text.reserveCapacity(key.utf8.count + 1 + suffix.utf8.count)
    text += key
    text += "/"
    text += suffix
    return text
  }

  /// What is left of a path below the prefix, without its slash; empty for the prefix itself; nil if the path lies elsewhere.
  ///
  /// Cut at segments: `/mypath` does not hold `/mypathabc`.
  package func remainder(of path: String) -> Substring? {
    remainder(of: path[...].utf8).map { Substring($0) }
  }

  /// The same by bytes: every opening asks.
  func remainder(of path: Substring.UTF8View) -> Substring.UTF8View? {
    guard path.starts(with: self.path.utf8) else { return nil }
    let rest = path.dropFirst(self.path.utf8.count)
    guard let first = rest.first else { return rest }
    return first == UInt8(ascii: "/") ? rest.dropFirst() : nil
  }

  package static func < (left: LinkPrefix, right: LinkPrefix) -> Bool { left.key < right.key }
}

/// Where links live, prepared for every request to ask.
///
/// A class, so that a request takes it for one reference count and not for one of each part of the document.
package final class LinkHosts: Sendable {
  /// A host that has links.
  package struct Site: Sendable {
    /// As the settings name it.
    package let name: String
    /// The longest path first.
    fileprivate let prefixes: [LinkPrefix]
  }

  /// The whole document.
  package let settings: LinkSettings
  private let sites: [String: Site]

  init(_ settings: LinkSettings) {
    self.settings = settings
    sites = Dictionary(
      uniqueKeysWithValues: Dictionary(grouping: settings.domains, by: \.host).map { host, prefixes in
        (host, Site(name: host, prefixes: prefixes.sorted { $0.path.utf8.count > $1.path.utf8.count }))
      })
  }

  /// Whether no host has links.
  package var isEmpty: Bool { sites.isEmpty }

  /// The host that a request names; nil if it has no links. A port is part of the name only where the settings say so.
  package func site(_ header: String) -> Site? {
    if let site = sites[header] { return site }
    let lower = header.lowercased()
    if let site = sites[lower] { return site }
    guard let colon = lower.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
    return sites[String(lower[..<colon])]
  }
}

extension LinkHosts.Site {
  /// The prefix that a path lies below, and what is left of the path; nil if other surfaces answer there.
  package func match(_ path: String) -> (prefix: LinkPrefix, rest: Substring)? {
    for prefix in prefixes {
      guard var rest = prefix.remainder(of: path[...].utf8) else { continue }
      if rest.last == UInt8(ascii: "/") { rest = rest.dropLast() }
      if prefix.path.isEmpty {
        let first = rest.prefix { $0 != UInt8(ascii: "/") }
        if !first.elementsEqual("i".utf8), LinkSuffix.reserved.contains(Substring(first).lowercased()) { return nil }
      }
      return (prefix, Substring(rest))
    }
    return nil
  }

  /// Whether what is left of a path can be a short link's suffix.
  package static func isShort(_ rest: Substring) -> Bool { LinkSuffix.isShortForm(rest) }
}
