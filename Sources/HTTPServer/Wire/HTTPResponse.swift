package import NIOCore
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
    case css
    case webManifest
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
  /// Whether caches must not keep the answer, because it differs by visitor.
  package var isForOneVisitor = false
  /// Whether only pages of this server may read it, and nobody keeps it who is not told to.
  package var isForOwnPages = false

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
  package static func error(_ status: HTTPResponseStatus, message: String) -> HTTPResponse {
    .json(["error": .string(message)], status: status)
  }

  /// The same answer with one more header.
  package func adding(_ name: String, value: String) -> HTTPResponse {
    var response = self
    response.headers.append(Header(name, value))
    return response
  }
}

/// What the connection knows about the exchange, beside the answer itself.
package struct ResponseFraming {
  /// Whether the client asked with HEAD: the length is announced, the body is not sent.
  let isHead: Bool
  let isHTTP10: Bool
  let keepsAlive: Bool
}

extension HTTPResponse {
  /// Appends the answer as HTTP/1.1 text.
  ///
  /// Written by hand into one buffer, not through NIO's encoder: no header list is built, and one `write` reaches the
  /// socket. Every header value is the server's own or was checked where it entered (callback and file names).
  package func write(to buffer: inout ByteBuffer, framing: ResponseFraming, date: DateHeader) {
    if case .ok = status, content == .json, headers.isEmpty, !isForOneVisitor, !isForOwnPages {
      buffer.writeStaticString(Self.usualHead)
    } else {
      writeHead(to: &buffer)
    }
    // 204 and 304 have no length (RFC 9110 §8.6).
    if content != .none || (status.code != 204 && status.code != 304) {
      buffer.writeStaticString("Content-Length: ")
      Self.write(body.count, to: &buffer)
      buffer.writeStaticString("\r\n")
    }
    date.write(to: &buffer)
    if !framing.keepsAlive {
      buffer.writeStaticString("Connection: close\r\n")
    } else if framing.isHTTP10 {
      buffer.writeStaticString("Connection: keep-alive\r\n")
    }
    buffer.writeStaticString("\r\n")
    if !framing.isHead { buffer.writeBytes(body) }
  }

  /// What ``writeHead(to:)`` writes for nearly every answer.
  private static let usualHead: StaticString = """
    HTTP/1.1 200 OK\r
    Content-Type: application/json; charset=utf-8\r
    Access-Control-Allow-Origin: *\r
    Cache-Control: no-cache\r

    """

  /// Appends what does not depend on the body and the exchange.
  private func writeHead(to buffer: inout ByteBuffer) {
    buffer.writeStaticString("HTTP/1.1 ")
    Self.write(status, to: &buffer)
    switch content {
    case .json: buffer.writeStaticString("Content-Type: application/json; charset=utf-8\r\n")
    case .javaScript:
      buffer.writeStaticString(
        "Content-Type: application/javascript; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n")
    case .html: buffer.writeStaticString("Content-Type: text/html; charset=utf-8\r\n")
    case .svg: buffer.writeStaticString("Content-Type: image/svg+xml\r\nX-Content-Type-Options: nosniff\r\n")
    case .png: buffer.writeStaticString("Content-Type: image/png\r\n")
    case .bareJSON: buffer.writeStaticString("Content-Type: application/json\r\n")
    case .text: buffer.writeStaticString("Content-Type: text/plain; charset=utf-8\r\n")
    case .metrics: buffer.writeStaticString("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n")
    case .css: buffer.writeStaticString("Content-Type: text/css; charset=utf-8\r\n")
    case .webManifest: buffer.writeStaticString("Content-Type: application/manifest+json\r\n")
    case .none: break
    }
    if isForOwnPages {
      buffer.writeStaticString("Cross-Origin-Resource-Policy: same-origin\r\n")
      if content != .javaScript, content != .svg { buffer.writeStaticString("X-Content-Type-Options: nosniff\r\n") }
      if !headers.contains(where: { $0.name == "Cache-Control" }) { buffer.writeStaticString("Cache-Control: no-store\r\n") }
    } else if isForOneVisitor {
      buffer.writeStaticString(
        "Cache-Control: no-store\r\nVary: User-Agent, Accept-Language\r\nX-Content-Type-Options: nosniff\r\n")
    } else {
      buffer.writeStaticString("Access-Control-Allow-Origin: *\r\n")
      if !headers.contains(where: { $0.name == "Cache-Control" }) { buffer.writeStaticString("Cache-Control: no-cache\r\n") }
    }
    for header in headers {
      buffer.writeString(header.name)
      buffer.writeStaticString(": ")
      buffer.writeString(header.value)
      buffer.writeStaticString("\r\n")
    }
  }

  /// Appends the head of an event stream. It has no length: it ends with the connection. Clients that find no charset read
  /// UTF-8 as Latin-1 (Firebase's REST reference).
  static func writeStreamHead(to buffer: inout ByteBuffer, date: DateHeader, isForOwnPages: Bool = false) {
    buffer.writeStaticString(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n")
    if !isForOwnPages { buffer.writeStaticString("Access-Control-Allow-Origin: *\r\n") }
    buffer.writeStaticString("X-Accel-Buffering: no\r\nConnection: close\r\n")
    date.write(to: &buffer)
    buffer.writeStaticString("\r\n")
  }

  /// Appends the head of a download: it has no length, and the connection ends with it.
  ///
  /// - `inPieces`: whether its end is told by the transfer encoding, so that a client knows an answer that was cut off.
  func writeHead(inPieces: Bool, to buffer: inout ByteBuffer, date: DateHeader) {
    writeHead(to: &buffer)
    if inPieces { buffer.writeStaticString("Transfer-Encoding: chunked\r\n") }
    buffer.writeStaticString("Connection: close\r\n")
    date.write(to: &buffer)
    buffer.writeStaticString("\r\n")
  }

  private static func write(_ status: HTTPResponseStatus, to buffer: inout ByteBuffer) {
    switch status {
    case .ok: buffer.writeStaticString("200 OK\r\n")
    case .noContent: buffer.writeStaticString("204 No Content\r\n")
    default:
      write(Int(status.code), to: &buffer)
      buffer.writeStaticString(" ")
      buffer.writeString(status.reasonPhrase)
      buffer.writeStaticString("\r\n")
    }
  }

  /// Digits without the detour over a String; `value` is not negative.
  private static func write(_ value: Int, to buffer: inout ByteBuffer) {
    var count = 1
    var largest = 9
    while value > largest, count < 19 { (count, largest) = (count + 1, largest &* 10 &+ 9) }
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
      var rest = value
      for index in stride(from: count - 1, through: 0, by: -1) {
        bytes[index] = UInt8(ascii: "0") + UInt8(rest % 10)
        rest /= 10
      }
      return count
    }
  }
}

extension HTTPResponse {
  /// The answer to what browsers ask before they send a request from another origin.
  package static let preflight = preflight(allowing: "GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS")

  /// The same where only some methods are there.
  package static func preflight(allowing methods: String) -> HTTPResponse {
    .empty(
      .ok,
      headers: [
        Header("Allow", methods),
        Header("Access-Control-Allow-Methods", methods),
        Header(
          "Access-Control-Allow-Headers",
          "Authorization, Content-Type, X-Firebase-ETag, If-Match, If-None-Match, X-HTTP-Method-Override, "
            + "Idempotency-Key, X-Doubloon-Wait, X-Doubloon-Client, X-Goog-Api-Key, X-Goog-Firebase-Installations-Auth, X-Request-ID"
        ),
        Header("Access-Control-Expose-Headers", "ETag, Idempotency-Replayed, X-Doubloon-Effects, X-Request-ID"),
        Header("Access-Control-Max-Age", "86400"),
      ])
  }
}
