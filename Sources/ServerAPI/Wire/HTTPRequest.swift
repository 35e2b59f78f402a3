public import NIOCore
public import NIOHTTP1

/// A request as it came over the wire, complete with its body.
public struct HTTPRequest: Sendable {
  /// The verb; a HEAD arrives as GET.
  public var method: HTTPMethod
  /// Whether it came as a HEAD: the answer's body is not sent.
  public var isHead = false
  /// The request target as sent: path and query, percent-encoded.
  public let uri: String
  /// As sent, in order.
  public let headers: HTTPHeaders
  /// The body's bytes; nil if there was none.
  public let body: ByteBuffer?
  /// Who sent it, as far as the connection and trusted proxies tell.
  public let client: ClientAddress

  public init(
    method: HTTPMethod, uri: String, headers: HTTPHeaders = [:], body: ByteBuffer? = nil, client: ClientAddress = .unknown
  ) {
    self.method = method
    self.uri = uri
    self.headers = headers
    self.body = body
    self.client = client
  }
}
