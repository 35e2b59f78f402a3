import TextFormats

/// The scheme, host and port of a server, such as `https://play.example.com`.
package struct ServiceAddress: Sendable, Hashable, CustomStringConvertible {
  /// A name or an address, without the brackets of IPv6.
  package var host: String
  /// 1 to 65535.
  package var port: Int
  /// Whether TLS is spoken there.
  package var isSecure: Bool

  package init(host: String, port: Int, isSecure: Bool) {
    self.host = host
    self.port = port
    self.isSecure = isSecure
  }

  /// Reads `https://host[:port]`, `http://…`, `wss://…` and `ws://…`; what follows the host is left alone. Nil if the text is
  /// no such address.
  package init?(_ text: String) {
    let url = URLParts(text)
    guard let scheme = url.scheme?.lowercased(), ["http", "https", "ws", "wss"].contains(scheme),
      let authority = url.authority.flatMap({ URLAuthority($0) }), authority.userInfo == nil, Self.isHost(authority.host),
      authority.port == nil || authority.portNumber != nil
    else { return nil }
    isSecure = scheme == "https" || scheme == "wss"
    host = authority.host.lowercased()
    port = authority.portNumber ?? (isSecure ? 443 : 80)
  }

  /// Reads `host` and `host:port`, as a hello of the database names another host.
  package init?(authority text: String, isSecure: Bool) {
    guard let address = ServiceAddress("\(isSecure ? "https" : "http")://\(text)") else { return nil }
    self = address
  }

  /// Host and port as the header `Host` has them.
  package var authority: String {
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }

  /// `https://play.example.com`, without a slash at the end.
  package var description: String { "\(isSecure ? "https" : "http")://\(authority)" }

  private static func isHost(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.count <= 255
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@[]\\\"".utf8.contains($0) }
  }
}
