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
  package init(_ text: String) throws(AdminClientError) {
    var rest = text[...]
    var isTLS = false
    if let mark = Self.schemeEnd(text) {
      switch text[..<mark].lowercased() {
      case "http": rest = text[text.index(mark, offsetBy: 3)...]
      case "https":
        rest = text[text.index(mark, offsetBy: 3)...]
        isTLS = true
      default: throw Self.unreadable(text)
      }
    }
    if rest.last == "/" { rest.removeLast() }
    guard let (host, port) = Self.split(rest) else { throw Self.unreadable(text) }
    self.init(host: host, port: port ?? (isTLS ? 443 : 80), isTLS: isTLS)
  }

  /// The host and port as the `Host` header has them.
  package var authority: String {
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return port == (isTLS ? 443 : 80) ? name : "\(name):\(port)"
  }

  /// The address as it is written: `http://127.0.0.1:9000`.
  package var description: String { "\(isTLS ? "https" : "http")://\(authority)" }

  private static func unreadable(_ text: String) -> AdminClientError {
    AdminClientError(.badAddress, "\"\(text)\" is no server's address; write it like http://127.0.0.1:9000.")
  }

  /// Where `://` begins.
  private static func schemeEnd(_ text: String) -> String.Index? {
    guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
    return colon
  }

  /// The host, without the brackets of IPv6, and the port if one is named.
  private static func split(_ text: Substring) -> (String, Int?)? {
    var host = text
    var port: Substring?
    if text.first == "[" {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[text.index(after: text.startIndex)..<end]
      let rest = text[text.index(after: end)...]
      guard rest.isEmpty || rest.first == ":" else { return nil }
      port = rest.isEmpty ? nil : rest.dropFirst()
    } else if let colon = text.firstIndex(of: ":") {
      host = text[..<colon]
      port = text[text.index(after: colon)...]
    }
    let isName = host.utf8.allSatisfy { byte in
      byte > 0x20 && byte < 0x7F && !"/?#@[]\\\"".utf8.contains(byte)
    }
    guard !host.isEmpty, isName else { return nil }
    guard let port else { return (String(host), nil) }
    guard port.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(port), (1...65_535).contains(number) else {
      return nil
    }
    return (String(host), number)
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
