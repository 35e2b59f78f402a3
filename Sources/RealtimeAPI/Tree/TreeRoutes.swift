package import HTTPServer
import NIOCore
package import NIOHTTP1
import TreeDatabase
import TreeModel

/// The Realtime Database's REST surface: every path that ends in `.json` (Firebase's REST reference).
///
/// All of it runs on the connection's event loop, without tasks: parsing, small reads, and handing writes to the writer's
/// queue. What comes back from the writer is rendered on the loop again, never on the writer.
package struct TreeRoutes: LeadingSurface {
  package let services: RealtimeServices
  let pushIDs: PushIDSource
  let namespaces: NamespaceOpening
  let streams: EventStreams
  /// Whether it answers reads with what is there, and nothing else.
  private let readsOnly: Bool

  package init(services: RealtimeServices, readsOnly: Bool = false) {
    self.services = services
    self.readsOnly = readsOnly
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
      if readsOnly { try checkReads(call) }
      if call.isRead {
        sink.routeClass = .treeRead
        if call.wantsStream { try stream(call, sink: sink) } else { try read(call, sink: sink) }
      } else {
        sink.routeClass = .treeWrite
        try write(call, sent: request, sink: sink)
      }
    } catch {
      sink.send(error.treeResponse)
    }
  }
}

extension TreeRoutes {
  private func checkReads(_ call: TreeRequest) throws(APIError) {
    guard call.isRead else {
      throw APIError(.methodNotAllowed, "method_not_allowed", "Here the tree is read; write at the clients' port of any node.")
    }
    if call.wantsStream { throw .badRequest("Here nothing is streamed; listen at the clients' port of any node.") }
  }

  /// Bytes that `writeSizeLimit=unlimited` allows an administrator (Firebase's REST reference, `writeSizeLimit`).
  static let unlimitedBytes = 256 << 20

  /// How much body a request may bring, before it is read; nil for the usual limit.
  ///
  /// What is refused whatever the data are, because of its address, its credentials or the rules, is refused before it can fill
  /// memory: of its body no more is read than anybody may send.
  package func bodyLimit(for head: HTTPRequestHead, target: RequestTarget) -> BodyLimit? {
    do throws(APIError) {
      let request = HTTPRequest(method: head.method, uri: head.uri, headers: head.headers)
      let call = try TreeRequest(request, target, services: services)
      if call.isRead { return BodyLimit(bytesMax: RequestRouter.openBytesMax) }
      if call.parameters.isUnlimited { return BodyLimit(bytesMax: Self.unlimitedBytes) }
      guard mightWrite(call) else { throw .permissionDenied }
      return nil
    } catch {
      return BodyLimit(bytesMax: RequestRouter.openBytesMax, refusal: error.treeResponse)
    }
  }

  /// Whether the rules could allow a write, as far as that can be known without the data.
  func mightWrite(_ call: TreeRequest) -> Bool {
    // An update names paths below, and so does a name that is yet to be made.
    let below = call.method == .patch || call.method == .post
    return services.access.mightWrite(call.target.path, below: below, in: call.namespace, as: call.caller)
  }
}
