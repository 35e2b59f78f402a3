package import HTTPServer
import NIOCore
import NIOHTTP1
import TreeDatabase
import TreeModel

/// The Realtime Database's REST surface: every path that ends in `.json` (spec: rtdb-protocol §2).
///
/// All of it runs on the connection's event loop, without tasks: parsing, small reads, and handing writes to the writer's
/// queue. What comes back from the writer is rendered on the loop again, never on the writer.
package struct TreeRoutes: LeadingSurface {
  package let services: RealtimeServices
  let pushIDs: PushIDSource
  let namespaces: NamespaceOpening
  let streams: EventStreams

  package init(services: RealtimeServices) {
    self.services = services
    pushIDs = PushIDSource(services: services)
    namespaces = NamespaceOpening(services: services)
    streams = EventStreams(services: services)
  }

  package func owns(_ path: [UInt8]) -> Bool { TreeAddress.isTree(path) }

  package func respond(to request: HTTPRequest, _ target: RequestTarget, sink: ResponseSink) {
    if request.method == .OPTIONS { return sink.send(.preflight) }
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
}
