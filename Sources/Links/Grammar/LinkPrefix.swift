/// Where links live: an https host, with a path or without (`https://go.acme.test/r`).
public struct LinkPrefix: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Lower case, with a port if it is not 443.
  public let host: String
  /// `/r`, or empty; never ends in a slash.
  public let path: String

  /// Reads `https://host/path`; a trailing slash is dropped.
  ///
  /// - Returns: nil for anything but https, and for a path whose segments are not letters, digits, `-`, `_`.
  public init?(_ text: String) {
    guard let url = LinkURL(text), url.scheme == "https", url.query == nil, url.fragment == nil else { return nil }
    host = url.host + url.port
    let segments = url.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    let names = segments.last?.isEmpty == true ? segments.dropLast() : segments
    guard names.allSatisfy({ LinkSuffix.isSegment($0) }) else { return nil }
    path = names.map { "/\($0)" }.joined()
    key = host + path
  }

  /// As it was configured: `https://go.acme.test/r`.
  public var description: String { "https://\(host)\(path)" }

  /// What stands before a suffix in keys of records: `go.acme.test/r`.
  public let key: String

  /// The key of a short link's record: `go.acme.test/r/aB3x`.
  public func key(of suffix: Substring) -> String {
    var text = ""
    text.reserveCapacity(key.utf8.count + 1 + suffix.utf8.count)
    text += key
    text += "/"
    text += suffix
    return text
  }

  /// What is left of a path below the prefix, without its slash; empty for the prefix itself; nil if the path lies elsewhere.
  ///
  /// Cut at segments: `/mypath` does not hold `/mypathabc` (spec: links-messaging §1).
  public func remainder(of path: String) -> Substring? {
    remainder(of: path[...].utf8).map { Substring($0) }
  }

  /// The same by bytes: every opening asks.
  func remainder(of path: Substring.UTF8View) -> Substring.UTF8View? {
    guard path.starts(with: self.path.utf8) else { return nil }
    let rest = path.dropFirst(self.path.utf8.count)
    guard let first = rest.first else { return rest }
    return first == UInt8(ascii: "/") ? rest.dropFirst() : nil
  }

  public static func < (left: LinkPrefix, right: LinkPrefix) -> Bool { left.key < right.key }
}
