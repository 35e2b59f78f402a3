import HTTPServer
import IdentityAPI
import NIOHTTP1
import RealtimeAPI

/// What requests of this server's surfaces count as.
enum RequestKind {
  /// What a request counts as: judged by what the router will see, however its path is spelt.
  static func of(_ uri: String, method: HTTPMethod, headers: HTTPHeaders) -> RequestLimits.Kind {
    guard let path = RequestTarget.path(of: uri) else { return .other }
    if TreeAddress.isTree(path) {
      guard method == .GET || method == .HEAD else { return .write }
      return headers.first(name: "accept")?.lowercased().contains("text/event-stream") == true ? .connection : .read
    }
    guard let segments = RequestTarget.segments(of: path), let first = segments.first else { return .other }
    switch first {
    case "admin", "console", "metrics", ".settings", ".inspect": return .admin
    case "token" where segments.count == 1: return .admin
    case ".lp": return RequestTarget(uri)?.query["start"] != nil ? .connection : .read
    case ".ws": return .connection
    case "invites": return .link
    case "v1" where IdentityAddress(segments) == nil: return .link
    case ".well-known" where segments.count > 1 && segments[1].hasPrefix("a"): return .link
    default: return IdentityAddress(segments) != nil || IdentityAddress.isPrefixed(segments) ? .account : .other
    }
  }
}
