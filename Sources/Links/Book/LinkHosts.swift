/// Where links live, prepared for every request to ask.
///
/// A class, so that a request takes it for one reference count and not for one of each part of the document.
public final class LinkHosts: Sendable {
  /// A host that has links.
  public struct Site: Sendable {
    /// As the settings name it.
    public let name: String
    /// The longest path first.
    fileprivate let prefixes: [LinkPrefix]
  }

  /// The whole document.
  public let settings: LinkSettings
  private let sites: [String: Site]

  init(_ settings: LinkSettings) {
    self.settings = settings
    sites = Dictionary(
      uniqueKeysWithValues: Dictionary(grouping: settings.domains, by: \.host).map { host, prefixes in
        (host, Site(name: host, prefixes: prefixes.sorted { $0.path.utf8.count > $1.path.utf8.count }))
      })
  }

  /// Whether no host has links.
  public var isEmpty: Bool { sites.isEmpty }

  /// The host that a request names; nil if it has no links. A port is part of the name only where the settings say so.
  public func site(_ header: String) -> Site? {
    if let site = sites[header] { return site }
    let lower = header.lowercased()
    if let site = sites[lower] { return site }
    guard let colon = lower.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
    return sites[String(lower[..<colon])]
  }
}

extension LinkHosts.Site {
  /// The prefix that a path lies below, and what is left of the path; nil if other surfaces answer there.
  public func place(_ path: String) -> (prefix: LinkPrefix, rest: Substring)? {
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
  public static func isShort(_ rest: Substring) -> Bool { LinkSuffix.isShortForm(rest) }
}
