public import NIOHTTP1

/// Who answers requests: the router.
public protocol RequestResponder: Sendable {
  /// Takes a request and, now or later and from any thread, hands one answer to `sink`.
  ///
  /// Called on the connection's event loop: it must not block, and whatever takes long goes elsewhere.
  func respond(to request: HTTPRequest, sink: ResponseSink)

  /// How many bytes of body the server takes in for this request, judged by its head alone; nil for the usual limit.
  func bodyBytesMax(for head: HTTPRequestHead) -> Int?

  /// What the request's credentials show, judged by its head alone; asked when it holds much memory, not of every request.
  func standing(of head: HTTPRequestHead) -> ClientStanding
}
