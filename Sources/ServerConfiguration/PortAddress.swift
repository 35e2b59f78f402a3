/// An address of this machine, and a port on it.
package struct PortAddress: Sendable, Hashable, CustomStringConvertible {
  /// A name, or an address without brackets.
  package let host: String
  /// 0 takes any free port, where that is permitted.
  package var port: Int

  package init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// Reads `10.0.0.1:9000`, `[::1]:9000` or `localhost:9000`; nil if it is none of them.
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]), (1...65_535).contains(port)
    else {
      return nil
    }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty else { return nil }
    self.init(host: String(host), port: port)
  }

  /// As it is read.
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
