import APISupport
import HTTPServer
import NIOCore
import NIOHTTP1
import TreeDatabase
import TreeModel

extension TreeRoutes {
  /// Answers a GET that accepts `text/event-stream`: the same admission as any GET, then events for as long as it lasts
  /// (spec: rtdb-protocol §2, streaming).
  func stream(_ call: TreeRequest, sink: ResponseSink) throws(APIError) {
    let parameters = call.parameters
    let query = try parameters.query.parsed()
    guard services.access.judgeRead(call.target.path, query: query, in: call.namespace, as: call.caller).isAllowed else {
      throw denied(call, query)
    }
    guard !parameters.isShallow, parameters.callback == nil else {
      throw .badRequest("shallow and callback do not go with event streams; leave them out.")
    }
    guard !call.target.isPriority else {
      throw .badRequest("A .priority cannot be streamed; stream its node with format=export.")
    }
    let services = services
    let streams = streams
    namespaces.open(call.namespace) { result in
      switch result {
      case .failure(let error): sink.send(error.treeResponse)
      case .success(let namespace):
        if let query, !services.database.reader.isIndexed(query.order, at: call.target.path, in: namespace) {
          return sink.send(missingIndex(query, call).treeResponse)
        }
        let request = ListenRequest(
          namespace: namespace, path: call.target.path, query: query, format: parameters.format)
        sink.stream(limitedBy: streams) { opening in
          let admission = ListenAdmission(
            services, namespaceName: call.namespace, namespace: namespace, path: call.target.path, query: query,
            eventLoop: sink.eventLoop)
          return EventStream(
            streams: streams, request: request, caller: call.caller, opening: opening, admission: admission)
        }
      }
    }
  }
}
