package import NIOHTTP1

/// Who answers requests: the router.
package protocol RequestResponder: Sendable {
  /// Takes a request and, now or later and from any thread, hands one answer to `sink`.
  ///
  /// Called on the connection's event loop: it must not block, and whatever takes long goes elsewhere.
  func respond(to request: HTTPRequest, sink: ResponseSink)

  /// How much body the server takes in for this request, judged by its head alone; nil for the usual limit.
  ///
  /// Called on the connection's event loop, before the body is read.
  func bodyLimit(for head: HTTPRequestHead) -> BodyLimit?

  /// What the request's credentials show, judged by its head alone; asked of requests that hold much memory or are large.
  func standing(of head: HTTPRequestHead) -> ClientStanding
}
