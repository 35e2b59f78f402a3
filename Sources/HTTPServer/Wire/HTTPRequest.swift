package import NIOCore
package import NIOHTTP1

/// A request as it came over the wire, complete with its body.
package struct HTTPRequest: Sendable {
  /// The verb; a HEAD arrives as GET.
  package var method: HTTPMethod
  /// Whether it came as a HEAD: the answer's body is not sent.
  package var isHead = false
  /// The request target as sent: path and query, percent-encoded.
  package let uri: String
  /// As sent, in order.
  package let headers: HTTPHeaders
  /// The body's bytes; nil if there was none.
  package let body: ByteBuffer?
  /// Who sent it, as far as the connection and trusted proxies tell.
  package let client: ClientAddress

  package init(
    method: HTTPMethod, uri: String, headers: HTTPHeaders = [:], body: ByteBuffer? = nil, client: ClientAddress = .unknown
  ) {
    self.method = method
    self.uri = uri
    self.headers = headers
    self.body = body
    self.client = client
  }
}
