public import NIOHTTP1
public import TreeModel

/// An answer, complete: the connection adds what the wire needs (length, date, keep-alive).
public struct HTTPResponse: Sendable {
  /// A header that not every answer has.
  public struct Header: Sendable, Hashable {
    /// As it will stand on the wire.
    public let name: String
    /// Without a line break.
    public let value: String

    /// A header; neither part may hold a line break.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// What the body is.
  public enum Content: Sendable, Hashable {
    case json
    case javaScript
    case html
    case svg
    case png
    /// `application/json` and nothing behind it: what Apple's systems insist on.
    case bareJSON
    case text
    /// Prometheus' text format.
    case metrics
    /// No body, and so no type.
    case none
  }

  /// The status, with its usual phrase.
  public var status: HTTPResponseStatus
  /// What the body is; decides the content type.
  public var content: Content
  /// What the connection does not add by itself.
  public var headers: [Header]
  /// The body's bytes.
  public var body: [UInt8]
  /// Whether the connection ends after this answer, whatever the client wished.
  public var closesConnection = false
  /// Whether nobody may keep the answer, because another visitor gets another one.
  public var isForOneVisitor = false

  public init(_ status: HTTPResponseStatus, content: Content = .json, headers: [Header] = [], body: [UInt8]) {
    self.status = status
    self.content = content
    self.headers = headers
    self.body = body
  }

  /// An answer without a body: 204, 304.
  public static func empty(_ status: HTTPResponseStatus, headers: [Header] = []) -> HTTPResponse {
    HTTPResponse(status, content: .none, headers: headers, body: [])
  }

  /// A JSON value.
  public static func json(_ json: JSON, status: HTTPResponseStatus = .ok, pretty: Bool = false) -> HTTPResponse {
    var writer = JSONWriter(pretty: pretty)
    writer.write(json)
    return HTTPResponse(status, body: writer.bytes)
  }

  /// The error shape of the Firebase surfaces: `{"error": "…"}`.
  public static func error(_ status: HTTPResponseStatus, _ message: String) -> HTTPResponse {
    .json(["error": .string(message)], status: status)
  }

  /// The same answer with one more header.
  func adding(_ name: String, _ value: String) -> HTTPResponse {
    var response = self
    response.headers.append(Header(name, value))
    return response
  }
}
