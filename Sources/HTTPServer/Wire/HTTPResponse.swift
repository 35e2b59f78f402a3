package import NIOHTTP1
package import TreeModel

/// An answer, complete: the connection adds what the wire needs (length, date, keep-alive).
package struct HTTPResponse: Sendable {
  /// A header that not every answer has.
  package struct Header: Sendable, Hashable {
    /// As it will stand on the wire.
    package let name: String
    /// Without a line break.
    package let value: String

    /// A header; neither part may hold a line break.
    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// What the body is.
  package enum Content: Sendable, Hashable {
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
  package var status: HTTPResponseStatus
  /// What the body is; decides the content type.
  package var content: Content
  /// What the connection does not add by itself.
  package var headers: [Header]
  /// The body's bytes.
  package var body: [UInt8]
  /// Whether the connection ends after this answer, whatever the client wished.
  package var closesConnection = false
  /// Whether nobody may keep the answer, because another visitor gets another one.
  package var isForOneVisitor = false

  package init(_ status: HTTPResponseStatus, content: Content = .json, headers: [Header] = [], body: [UInt8]) {
    self.status = status
    self.content = content
    self.headers = headers
    self.body = body
  }

  /// An answer without a body: 204, 304.
  package static func empty(_ status: HTTPResponseStatus, headers: [Header] = []) -> HTTPResponse {
    HTTPResponse(status, content: .none, headers: headers, body: [])
  }

  /// A JSON value.
  package static func json(_ json: JSON, status: HTTPResponseStatus = .ok, pretty: Bool = false) -> HTTPResponse {
    var writer = JSONWriter(pretty: pretty)
    writer.write(json)
    return HTTPResponse(status, body: writer.bytes)
  }

  /// The error shape of the Firebase surfaces: `{"error": "…"}`.
  package static func error(_ status: HTTPResponseStatus, _ message: String) -> HTTPResponse {
    .json(["error": .string(message)], status: status)
  }

  /// The same answer with one more header.
  package func adding(_ name: String, _ value: String) -> HTTPResponse {
    var response = self
    response.headers.append(Header(name, value))
    return response
  }
}
