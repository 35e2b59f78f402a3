/// The settings as openings need them: which host and path is a link's.
///
/// A class, so that an opening takes one reference and no copy of the document.
public final class LinkHosts: Sendable {
  /// The whole document.
  public let settings: LinkSettings
  /// By host, the longest path first.
  private let prefixes: [String: [LinkPrefix]]

  init(_ settings: LinkSettings) {
    self.settings = settings
    prefixes = Dictionary(grouping: settings.domains, by: \.host).mapValues { prefixes in
      prefixes.sorted { $0.path.utf8.count > $1.path.utf8.count }
    }
  }

  /// Whether no host has links.
  public var isEmpty: Bool { prefixes.isEmpty }

  /// The host as the settings name it; nil if it has no links. A port is part of the name only where the settings say so.
  public func host(_ header: String) -> String? {
    if prefixes[header] != nil { return header }
    let lower = header.lowercased()
    if prefixes[lower] != nil { return lower }
    guard let colon = lower.lastIndex(of: ":") else { return nil }
    let name = String(lower[..<colon])
    return prefixes[name] == nil ? nil : name
  }

  /// The prefix that a path lies below, and what is left of the path; nil if other surfaces answer there.
  public func place(_ host: String, _ path: String) -> (prefix: LinkPrefix, rest: Substring)? {
    for prefix in prefixes[host] ?? [] {
      guard var rest = prefix.remainder(of: path) else { continue }
      if rest.hasSuffix("/") { rest = rest.dropLast() }
      if prefix.path.isEmpty, let first = rest.split(separator: "/", maxSplits: 1).first, first != "i",
        LinkSuffix.reserved.contains(String(first).lowercased())
      {
        return nil
      }
      return (prefix, rest)
    }
    return nil
  }

  /// Whether what is left of a path can be a short link's suffix.
  public static func isShort(_ rest: Substring) -> Bool { LinkSuffix.isShortForm(rest) }
}
