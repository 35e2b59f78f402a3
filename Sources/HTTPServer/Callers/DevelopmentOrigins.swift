package import NIOHTTP1
import TextFormats

/// Which hosts and web pages a server in development takes for its developer's own.
///
/// In development everybody knows the administrator's token, `owner`, and every web page that the developer opens can send
/// requests to this machine: by `fetch`, or through a name that its owner lets point here (DNS rebinding). Both tell
/// themselves apart by headers that a page cannot choose: `Host`, `Origin` and `Sec-Fetch-Site`. What is no browser sends
/// none of the last two, and notices nothing.
///
/// `Host` may be an address (which cannot be rebound), a name that no public name server answers for, or one that was
/// allowed; `Origin` may be this machine's or that of the host itself, at any port.
package struct DevelopmentOrigins: Sendable {
  /// The endings that are reserved for machines and networks of one's own (RFC 6761, RFC 6762, RFC 8375; ICANN's resolution
  /// 2024.07.29.06 for `.internal`).
  private static let privateEndings = [".localhost", ".local", ".internal", ".test", ".home.arpa"]

  private let allowedHosts: Set<String>

  /// - Parameter hosts: further names that the server is reached by, without port.
  package init(allowing hosts: [String] = []) {
    allowedHosts = Set(hosts.map { $0.lowercased() })
  }

  /// Whether a request may use the token `owner`.
  func trusts(_ headers: HTTPHeaders) -> Bool { error(of: headers) == nil && !isCrossSite(headers) }

  /// Why a request may not get to what administers the server: 421 for a host that may have been rebound, 403 for a foreign
  /// page; nil if it may.
  func error(of headers: HTTPHeaders) -> APIError? {
    guard trustsHost(headers) else {
      let host = headers.first(name: "host") ?? ""
      return APIError(
        .misdirectedRequest, "unknown_host",
        "\"\(host.prefix(200))\" may be anybody's name for this machine, so it does not administer a server in development: "
          + "use localhost or an address, or start it with --allow-host NAME.")
    }
    guard trustsOrigin(headers) else {
      let origin = headers.first(name: "origin") ?? ""
      return APIError(
        .forbidden, "foreign_origin",
        "Pages of \"\(origin.prefix(200))\" may not administer this server: in development only pages of this machine may, "
          + "and those of the host that the server is reached by.")
    }
    return nil
  }

  /// Whether the name that a request asks for is surely one of this server. Browsers always send it; a request without one
  /// is no browser's.
  package func trustsHost(_ headers: HTTPHeaders) -> Bool {
    let hosts = headers["host"]
    guard let host = hosts.first else { return true }
    guard hosts.count == 1, let name = Self.name(in: host) else { return hosts.count == 1 && host.isEmpty }
    return Self.isAddress(name) || !name.contains(".") || allowedHosts.contains(name)
      || Self.privateEndings.contains { name.hasSuffix($0) && name.utf8.count > $0.utf8.count }
  }

  private func trustsOrigin(_ headers: HTTPHeaders) -> Bool {
    let origins = headers["origin"]
    guard let origin = origins.first else { return true }
    guard origins.count == 1, let name = Self.name(ofOrigin: origin) else { return false }
    return Self.isLoopback(name) || headers["host"].contains { Self.name(in: $0) == name }
  }

  /// Whether a page of another site sends this without saying which: as a script's or a picture's address.
  private func isCrossSite(_ headers: HTTPHeaders) -> Bool {
    !headers.contains(name: "origin") && headers.first(name: "sec-fetch-site") == "cross-site"
  }
}

// MARK: - Names

extension DevelopmentOrigins {
  /// The host of `scheme://host:port`; nil for `null` and everything else.
  private static func name(ofOrigin origin: String) -> String? {
    URLParts(origin).authority.flatMap { name(in: String($0)) }
  }

  /// The name in `name:port`, in lower case, an IPv6 address in its brackets; nil if it is empty or no name.
  private static func name(in host: String) -> String? {
    guard let authority = URLAuthority(host.lowercased()), authority.userInfo == nil else { return nil }
    let name = authority.isBracketed ? "[\(authority.host)]" : String(authority.host)
    let isName = name.utf8.allSatisfy { byte in
      (48...58).contains(byte) || (97...122).contains(byte) || [45, 46, 91, 93, 95].contains(byte)
    }
    return isName && !name.isEmpty ? name : nil
  }

  private static func isAddress(_ name: String) -> Bool { ClientAddress(parsing: name) != nil }

  private static func isLoopback(_ name: String) -> Bool {
    if name == "localhost" || name.hasSuffix(".localhost") || name == "[::1]" { return true }
    return name.hasPrefix("127.") && isAddress(name)
  }
}
