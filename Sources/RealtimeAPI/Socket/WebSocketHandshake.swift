import Crypto
import HTTPServer
import NIOCore
import NIOHTTP1
import TreeModel

/// The HTTP half of a WebSocket's beginning (RFC 6455 §4.2).
enum WebSocketHandshake {
  private static let magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// Whether a request asks for a WebSocket at all: other protocols may be offered in `Upgrade`, and ignored.
  static func isAsked(by head: HTTPRequestHead) -> Bool {
    head.headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
  }

  /// The bytes that turn the connection into a WebSocket.
  ///
  /// - Throws: the answer to a request that cannot be accepted.
  static func answer(to head: HTTPRequestHead) throws(Refusal) -> ByteBuffer {
    guard head.method == .GET, head.version == .http1_1 else {
      throw Refusal(.error(.badRequest, "A WebSocket begins with a GET of HTTP/1.1."))
    }
    guard head.headers[canonicalForm: "connection"].contains(where: { $0.lowercased() == "upgrade" }) else {
      throw Refusal(.error(.badRequest, "A WebSocket needs the header Connection: Upgrade. A proxy may have removed it."))
    }
    guard head.headers.first(name: "sec-websocket-version") == "13" else {
      throw Refusal(
        .error(.upgradeRequired, "This server speaks version 13 of WebSocket.").adding("Sec-WebSocket-Version", "13"))
    }
    guard let key = head.headers.first(name: "sec-websocket-key"), isKey(key) else {
      throw Refusal(.error(.badRequest, "Sec-WebSocket-Key must be 16 bytes in base64."))
    }
    let accept = Base64.encode(Insecure.SHA1.hash(data: Array((key + magic).utf8)), as: .standard)
    return ByteBuffer(
      string: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: \(accept)\r\n\r\n")
  }

  /// A request that is answered instead of accepted.
  struct Refusal: Error {
    let response: HTTPResponse

    init(_ response: HTTPResponse) {
      self.response = response
    }
  }

  private static func isKey(_ key: String) -> Bool {
    key.utf8.count == 24 && Base64.decode(key.utf8)?.count == 16
  }
}
