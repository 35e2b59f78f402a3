package import NIOCore
package import NIOHTTP1

/// A request as it came over the wire, complete with its body.
package struct HTTPRequest: Sendable {
  /// The verb; a HEAD arrives as GET.
  package var method: HTTPMethod
  /// Whether it came as a HEAD: the answer's body is not sent.
  package var isHead = false
  /// Its target and headers, as bytes: for what looks at every request.
  package let head: RequestHead
  /// The body's bytes; nil if there was none.
  package let body: ByteBuffer?
  /// Who sent it, as far as the connection and trusted proxies tell.
  package internal(set) var client: ClientAddress
  /// What it is called, once somebody asks (``requestID``).
  var id = RequestID()

  package init(
    method: HTTPMethod, uri: String, headers: HTTPHeaders = [:], body: ByteBuffer? = nil, client: ClientAddress = .unknown
  ) {
    self.init(method: method, head: RequestHead(uri: uri, headers: headers), body: body, client: client)
  }

  init(method: HTTPMethod, head: RequestHead, body: ByteBuffer?, client: ClientAddress = .unknown) {
    self.method = method
    self.head = head
    self.body = body
    self.client = client
  }

  /// The request target as sent: path and query, percent-encoded.
  package var uri: String { head.uri }

  /// As sent, in order; made again at each look.
  package var headers: HTTPHeaders { head.headers }

  /// As NIO's decoder would give its beginning.
  var decodedHead: HTTPRequestHead { HTTPRequestHead(version: .http1_1, method: method, uri: uri, headers: headers) }
}

/// Who answers requests: the router.
package protocol RequestResponder: Sendable {
  /// Takes a request and, now or later and from any thread, hands one answer to `sink`.
  ///
  /// Called on the connection's event loop: it must not block, and whatever takes long goes elsewhere.
  func respond(to request: HTTPRequest, sink: ResponseSink)

  /// Bytes of body that everybody may send in any request, unless the connection takes less.
  var openBytesMax: Int { get }

  /// How much body the server takes in for this request, judged by its head alone; nil for the usual limit. Not less than
  /// ``openBytesMax``.
  ///
  /// Called on the connection's event loop, before the body is read; not for every request whose body is within
  /// ``openBytesMax``.
  func bodyLimit(for head: HTTPRequestHead) -> BodyLimit?

  /// What the request's credentials show, judged by its head alone; asked of requests that hold much memory or are large.
  func standing(of head: HTTPRequestHead) -> ClientStanding
}

/// How much body the server takes in for a request.
package struct BodyLimit: Sendable {
  /// Bytes of body; of one more nothing is collected.
  package let bytesMax: Int
  /// What is answered to a longer body, at the end of the connection; nil for an answer that names the limit.
  package let refusal: HTTPResponse?

  package init(bytesMax: Int, refusal: HTTPResponse? = nil) {
    self.bytesMax = bytesMax
    self.refusal = refusal
  }

  /// The answer to a longer body.
  var response: HTTPResponse {
    refusal
      ?? .error(
        .payloadTooLarge,
        message: "The body is larger than \(bytesMax) bytes, the most that one request may carry: send it in parts.")
  }
}

/// Takes a connection over when its request asks for another protocol on it.
package protocol SocketAccepting: Sendable {
  /// Judges a complete request with an `Upgrade` header, on the connection's event loop.
  ///
  /// - `client`: who asks, as far as the connection and trusted proxies tell.
  func accept(_ head: HTTPRequestHead, on channel: any Channel, from client: ClientAddress) -> SocketAcceptance
  /// Ends every connection that was taken over; done once nothing of them is left to do.
  func stop(on eventLoop: any EventLoop) -> EventLoopFuture<Void>
}

/// What becomes of a request for an upgrade.
package enum SocketAcceptance {
  /// It is a request like any other: the router answers it.
  case ignored
  /// Answered instead of accepted.
  case refused(HTTPResponse)
  /// `answer` is written, then `successors` take the place of the HTTP handlers, in this order.
  case accepted(answer: ByteBuffer, successors: [any ChannelHandler])
}
