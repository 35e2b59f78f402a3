import TextFormats
import TreeModel

/// Where a server is: the scheme, host and port of an address such as `http://127.0.0.1:9000`.
package struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
  /// A name or an address, without the brackets of IPv6.
  package let host: String
  /// 1 to 65535.
  package let port: Int
  /// Whether TLS is spoken there: `https`.
  package let isTLS: Bool

  /// Where `doubloon dev` listens unless told otherwise.
  package static let local = ServerAddress(host: "127.0.0.1", port: 9000)

  /// A host's name or address, and a port.
  package init(host: String, port: Int, isTLS: Bool = false) {
    self.host = host
    self.port = port
    self.isTLS = isTLS
  }

  /// Reads `http://host[:port]` and `https://host[:port]`; `http://` and a slash at the end may be left out. Without a port
  /// it is 80, or 443.
  ///
  /// - Throws: ``AdminClientError`` with a sentence.
  package init(_ text: String) throws {
    let hasScheme = text.utf8.firstIndex(of: UInt8(ascii: ":")).map { text[$0...].utf8.starts(with: "://".utf8) } == true
    let url = URLParts(hasScheme ? text : "http://\(text)")
    let scheme = url.scheme?.lowercased()
    guard scheme == "http" || scheme == "https", url.query == nil, url.fragment == nil, url.path.isEmpty || url.path == "/",
      let authority = url.authority.flatMap({ URLAuthority($0) }), authority.userInfo == nil, Self.isHost(authority.host),
      authority.port == nil || authority.portNumber != nil
    else { throw Self.unreadable(text) }
    let isTLS = scheme == "https"
    self.init(host: String(authority.host), port: authority.portNumber ?? (isTLS ? 443 : 80), isTLS: isTLS)
  }

  /// The host and port as the `Host` header has them.
  package var authority: String {
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return port == (isTLS ? 443 : 80) ? name : "\(name):\(port)"
  }

  /// Whether the host's first label stands for a tree, as at Firebase, where a request names none: a name of several labels, and
  /// no address.
  package var namesTree: Bool {
    let dot = host.utf8.firstIndex(of: UInt8(ascii: "."))
    let isAddress = host.utf8.allSatisfy { (48...58).contains($0) || $0 == UInt8(ascii: ".") } || host.utf8.contains(58)
    return dot.map { host.utf8.index(after: $0) < host.utf8.endIndex } == true && !isAddress
  }

  /// The address as it is written: `http://127.0.0.1:9000`.
  package var description: String { "\(isTLS ? "https" : "http")://\(authority)" }

  private static func unreadable(_ text: String) -> AdminClientError {
    AdminClientError(.badAddress, "\"\(text)\" is no server's address; write it like http://127.0.0.1:9000.")
  }

  private static func isHost(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@[]\\\"".utf8.contains($0) }
  }
}

/// A parameter behind the `?` of a request.
package struct QueryItem: Sendable, Hashable {
  /// Not encoded.
  package let name: String
  /// Not encoded.
  package let value: String

  /// A parameter, not encoded.
  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// A parameter that is left out where there is no value.
  package init?(_ name: String, _ value: String?) {
    guard let value else { return nil }
    self.init(name, value)
  }

  /// `?a=1&b=2`; empty if there are none.
  static func encoded(_ items: [QueryItem]) -> String {
    guard !items.isEmpty else { return "" }
    return "?"
      + items.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
  }
}
