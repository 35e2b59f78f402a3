public import NIOHTTP1

/// Answers on the port that only this machine reaches: health and metrics, without a key, and nothing else.
public struct MetricsResponder: RequestResponder {
  private let table: RouteTable

  /// - Parameter table: the routes that take no key.
  init(table: RouteTable) {
    self.table = table
  }

  public func respond(to request: HTTPRequest, sink: ResponseSink) {
    guard let target = RequestTarget(request.uri) else {
      return sink.send(.error(.badRequest, "The URL is not valid: it must begin with / and be percent-encoded UTF-8."))
    }
    table.respond(to: request, target, sink: sink)
  }

  public func bodyLimit(for head: HTTPRequestHead) -> BodyLimit? { BodyLimit(bytesMax: 0) }

  public func standing(of head: HTTPRequestHead) -> ClientStanding { .stranger }
}
