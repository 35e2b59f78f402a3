package import NIOHTTP1

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
  func bodyLimit(for head: HTTPRequestHead, _ target: RequestTarget) -> BodyLimit?
}
