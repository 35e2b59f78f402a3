import NIOCore
import NIOHTTP1
import Testing

@testable import HTTPServer

/// What an answer looks like on the wire.
struct ResponseWritingTests {
  @Test("The usual answer differs from one with a header of its own in that header alone")
  func usual() {
    let usual = HTTPResponse(.ok, body: Array("[1]".utf8))
    #expect(
      Self.text(usual)
        == "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nAccess-Control-Allow-Origin: *\r\n"
        + "Cache-Control: no-cache\r\nContent-Length: 3\r\n\r\n[1]")
    let other = Self.text(usual.adding("X-One", value: "1"))
    #expect(other.replacing("X-One: 1\r\n", with: "") == Self.text(usual))
  }

  @Test("Lengths are written in full", arguments: [0, 1, 9, 10, 99, 100, 101, 12345])
  func length(_ count: Int) {
    let text = Self.text(HTTPResponse(.ok, content: .text, body: [UInt8](repeating: 120, count: count)))
    #expect(text.contains("\r\nContent-Length: \(count)\r\n"))
  }

  private static func text(_ response: HTTPResponse) -> String {
    var buffer = ByteBuffer()
    response.write(
      to: &buffer, framing: ResponseFraming(isHead: false, isHTTP10: false, keepsAlive: true), date: DateHeader())
    return String(buffer: buffer)
  }
}
