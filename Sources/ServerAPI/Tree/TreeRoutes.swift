import NIOCore
import NIOHTTP1
import TreeDatabase
import TreeModel

/// The Realtime Database's REST surface: every path that ends in `.json` (spec: rtdb-protocol §2).
///
/// All of it runs on the connection's event loop, without tasks: parsing, small reads, and handing writes to the writer's
/// queue. What comes back from the writer is rendered on the loop again, never on the writer.
struct TreeRoutes: Sendable {
  let services: ServerServices
  let pushIDs: PushIDSource
  let namespaces: NamespaceOpening
  let streams: EventStreams

  init(services: ServerServices) {
    self.services = services
    pushIDs = PushIDSource(services: services)
    namespaces = NamespaceOpening(services: services)
    streams = EventStreams(services: services)
  }

  func respond(to request: HTTPRequest, _ target: RequestTarget, sink: ResponseSink) {
    if request.method == .OPTIONS { return sink.send(Self.preflight) }
    var sink = sink
    sink.routeClass = request.method == .GET ? .treeRead : .treeWrite
    do throws(APIError) {
      let call = try TreeRequest(request, target, services: services)
      sink.standing = call.caller.standing
      if call.isRead {
        sink.routeClass = .treeRead
        if call.wantsStream { try stream(call, sink: sink) } else { try read(call, sink: sink) }
      } else {
        sink.routeClass = .treeWrite
        try write(call, body: request.body, uri: request.uri, sink: sink)
      }
    } catch {
      sink.send(error.treeResponse)
    }
  }

  /// What browsers ask before they send a request from another origin.
  static let preflight = preflight(allowing: "GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS")

  /// The answer to what a browser asks before a request.
  static func preflight(allowing methods: String) -> HTTPResponse {
    .empty(
      .ok,
      headers: [
        HTTPResponse.Header("Allow", methods),
        HTTPResponse.Header("Access-Control-Allow-Methods", methods),
        HTTPResponse.Header(
          "Access-Control-Allow-Headers",
          "Authorization, Content-Type, X-Firebase-ETag, If-Match, If-None-Match, X-HTTP-Method-Override, "
            + "Idempotency-Key, X-Doubloon-Wait, X-Request-ID"
        ),
        HTTPResponse.Header("Access-Control-Expose-Headers", "ETag, Idempotency-Replayed, X-Doubloon-Effects"),
        HTTPResponse.Header("Access-Control-Max-Age", "86400"),
      ])
  }
}
