package import HTTPServer
import NIOHTTP1

/// The answer to a write, in the form that is also kept with an idempotency key.
package struct WriteAnswer: Sendable, Equatable {
  package let status: Int
  package let etag: String?
  package let body: [UInt8]

  /// What takes the place of an answer that held the data of a player who was erased.
  package static let erased = WriteAnswer(status: 200, etag: nil, body: Array("null".utf8))

  package init(status: Int, etag: String?, body: [UInt8]) {
    self.status = status
    self.etag = etag
    self.body = body
  }

  /// As stored: the status (2 bytes, big-endian), the tag's length (1 byte), the tag, the body.
  package var stored: [UInt8] {
    let tag = Array((etag ?? "").utf8)
    return [UInt8(truncatingIfNeeded: status >> 8), UInt8(truncatingIfNeeded: status), UInt8(truncatingIfNeeded: tag.count)]
      + tag + body
  }

  /// Reads ``stored``; nil if it is something else.
  package init?(stored bytes: [UInt8]) {
    guard bytes.count >= 3, bytes.count >= 3 + Int(bytes[2]) else { return nil }
    let bodyStart = 3 + Int(bytes[2])
    self.init(
      status: Int(bytes[0]) << 8 | Int(bytes[1]),
      etag: bodyStart == 3 ? nil : String(decoding: bytes[3..<bodyStart], as: UTF8.self), body: Array(bytes[bodyStart...]))
  }

  package var response: HTTPResponse {
    var headers: [HTTPResponse.Header] = []
    if let etag {
      headers.append(HTTPResponse.Header("ETag", etag))
      headers.append(HTTPResponse.Header("Access-Control-Expose-Headers", "ETag"))
    }
    if status == 204 { return .empty(.noContent, headers: headers) }
    return HTTPResponse(HTTPResponseStatus(statusCode: status), headers: headers, body: body)
  }
}
