package import NIOHTTP1
import TextFormats
import TreeModel

/// Decides who answers a request: the leading surface, the surfaces by their own signs, the table of routes.
///
/// The leading surface is asked first, without a look at the table: it is what nearly every request is for.
package struct RequestRouter: RequestResponder {
  private let callers: CallerIdentification
  private let leading: any LeadingSurface
  private let surfaces: [any RequestSurface]
  private let table: RouteTable

  /// - `leading`: the tree.
  /// - `surfaces`: asked one after the other; the first that knows a request answers it.
  /// - `table`: answers what is left.
  package init(callers: CallerIdentification, leading: any LeadingSurface, surfaces: [any RequestSurface], table: RouteTable) {
    self.callers = callers
    self.leading = leading
    self.surfaces = surfaces
    self.table = table
  }

  package func respond(to request: HTTPRequest, sink: ResponseSink) {
    guard let target = RequestTarget(request.head) else {
      return sink.send(.error(.badRequest, message: "The URL is not valid: it must begin with / and be percent-encoded UTF-8."))
    }
    if leading.owns(target.path) { return leading.respond(to: request, target, sink: sink) }
    if let error = callers.origins?.error(of: request.headers), Self.administers(target) {
      return sink.send(error.adminResponse)
    }
    for surface in surfaces where surface.respond(to: request, target, sink: sink) { return }
    table.respond(to: request, target, sink: sink)
  }

  /// Whether a path is one that the server is administered by, also where it asks for no credentials.
  private static func administers(_ target: RequestTarget) -> Bool {
    guard let path = target.segments else { return false }
    switch path.first {
    case "admin", "console", ".settings", ".inspect": return true
    case "emulator": return path.dropFirst().first == "v1"
    default: return false
    }
  }

  /// Bytes of body that everybody may send, whatever comes of it.
  package static let openBytesMax = 64 << 10

  package var openBytesMax: Int { Self.openBytesMax }

  package func bodyLimit(for head: HTTPRequestHead) -> BodyLimit? {
    // Nearly every body is short, and says so.
    let length = head.headers.first(name: "content-length").flatMap { Int($0) }
    let mayBeLong = length.map { $0 > Self.openBytesMax } ?? head.headers.contains(name: "transfer-encoding")
    guard mayBeLong || Self.mayBeUnlimited(head.uri) else { return nil }
    guard let target = RequestTarget(head.uri) else { return BodyLimit(bytesMax: Self.openBytesMax) }
    guard mayBeLong || target.query["writeSizeLimit"] == "unlimited" else { return nil }
    if leading.owns(target.path) { return leading.bodyLimit(for: head, target: target) }
    // Elsewhere only administrators have much to send.
    return caller(of: head, target: target)?.role == nil ? BodyLimit(bytesMax: Self.openBytesMax) : nil
  }

  /// Whether the address may hold `writeSizeLimit=unlimited`: percent-encoding may hide the word.
  private static func mayBeUnlimited(_ uri: String) -> Bool {
    var uri = uri
    return uri.withUTF8 {
      let uri = UnsafeRawBufferPointer($0)
      return uri.contains("unlimited") || uri.first(UInt8(ascii: "%")) != nil
    }
  }

  package func standing(of head: HTTPRequestHead) -> ClientStanding {
    RequestTarget(head.uri).flatMap { caller(of: head, target: $0) }?.standing ?? .unauthenticated
  }

  /// Who sends a request, by its head alone; nil if its credentials are not good.
  private func caller(of head: HTTPRequestHead, target: RequestTarget) -> Caller? {
    guard target.segments?.first == "admin" else { return try? callers.caller(head.headers, query: target.query) }
    return try? callers.administrator(
      HTTPRequest(method: head.method, uri: head.uri, headers: head.headers), query: target.query)
  }
}

/// A part of the server that knows its requests by itself, by more than a path: by their host, a prefix, a protocol.
package protocol RequestSurface: Sendable {
  /// Answers a request if it is this surface's; false if it is not.
  func respond(to request: HTTPRequest, _ target: RequestTarget, sink: ResponseSink) -> Bool
}

/// The surface that nearly every request is for: it is asked first, and before the body is read.
package protocol LeadingSurface: Sendable {
  /// Whether a path, percent-encoded, is this surface's.
  func owns(_ path: [UInt8]) -> Bool
  /// Answers a request that is.
  func respond(to request: HTTPRequest, _ target: RequestTarget, sink: ResponseSink)
  /// How much body it takes for a request, by its head alone; nil for the usual limit.
  func bodyLimit(for head: HTTPRequestHead, target: RequestTarget) -> BodyLimit?
}
