package import HTTPServer
package import NIOHTTP1

/// Answers on the port that only this machine reaches: health and metrics, without a key, and nothing else.
package struct MetricsResponder: RequestResponder {
  private let table: RouteTable

  /// - Parameter table: the routes that take no key.
  package init(table: RouteTable) {
    self.table = table
  }

  package func respond(to request: HTTPRequest, sink: ResponseSink) {
    guard let target = RequestTarget(request.uri) else {
      return sink.send(.error(.badRequest, "The URL is not valid: it must begin with / and be percent-encoded UTF-8."))
    }
    table.respond(to: request, target, sink: sink)
  }

  package func bodyLimit(for head: HTTPRequestHead) -> BodyLimit? { BodyLimit(bytesMax: 0) }

  package func standing(of head: HTTPRequestHead) -> ClientStanding { .stranger }
}
