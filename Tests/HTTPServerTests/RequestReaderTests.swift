import NIOCore
import Testing

@testable import HTTPServer

/// Who reads which request, and that it makes no difference.
struct RequestReaderTests {
  private static let limits = CommonRequest.Limits(headBytesMax: 32 << 10, bodyBytesMax: 64 << 10)

  private static func common(_ text: String) -> CommonRequest? {
    var text = text
    return text.withUTF8 { CommonRequest(UnsafeRawBufferPointer($0), limits: limits) }
  }

  @Test(
    "The requests of common clients are read by hand",
    arguments: [
      "GET /a.json HTTP/1.1\r\n\r\n",
      "GET /a.json HTTP/1.1\r\nHost: localhost:9000\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n",
      "PUT /users/bob/level.json?auth=a.b.c&print=silent HTTP/1.1\r\nhost: game.example.com\r\ncontent-length: 2\r\n\r\n12",
      "PATCH /a%20b.json HTTP/1.1\r\nHost:x\r\nConnection: Keep-Alive\r\nContent-Type: application/json\r\nContent-Length:   7\r\n\r\n{\"a\":1}",
      "POST /a.json HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "DELETE /a.json HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /a.json HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\nsec-ch-ua: \"Chromium\";v=\"130\"\r\nAccept: text/html;q=0.9\r\n"
        + "Sec-Fetch-Site: same-origin\r\nAccept-Encoding: gzip, deflate, br\r\nAccept-Language: de-DE,de;q=0.9\r\n\r\n",
    ])
  func takes(_ text: String) throws {
    let request = try #require(Self.common(text))
    #expect(request.headBytes + request.bodyBytes == text.utf8.count)
    #expect(Self.common(text + "GET /next") != nil, "What is behind it does not matter.")
    #expect(Self.common(String(text.dropLast())) == nil, "It is not all there.")
    let server = try EmbeddedServer(hasReader: true)
    try server.take(text.utf8)
    #expect(try server.finish().requests.count == 1)
    #expect(server.decodedCount == 0)
    try Self.expectSame(Array(text.utf8))
  }

  /// Shapes that parsers in a row read differently, and what else is unusual.
  static let declined = [
    "PUT /a.json HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "PUT /a.json HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
    "PUT /a.json HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n1",
    "PUT /a.json HTTP/1.1\r\nContent-Length: 1\r\ncontent-length: 2\r\n\r\n12",
    "PUT /a.json HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n1", "PUT /a.json HTTP/1.1\r\nContent-Length: +1\r\n\r\n1",
    "PUT /a.json HTTP/1.1\r\nContent-Length: -1\r\n\r\n1", "PUT /a.json HTTP/1.1\r\nContent-Length: 0x1\r\n\r\n1",
    "PUT /a.json HTTP/1.1\r\nContent-Length: 1 \r\n\r\n1", "PUT /a.json HTTP/1.1\r\nContent-Length: 1 1\r\n\r\n12345678901",
    "PUT /a.json HTTP/1.1\r\nContent-Length:\t1\r\n\r\n1", "PUT /a.json HTTP/1.1\r\nContent-Length:\r\n\r\n",
    "PUT /a.json HTTP/1.1\r\nContent-Length : 1\r\n\r\n1", "PUT /a.json HTTP/1.1\r\nContent-Length\r\n: 1\r\n\r\n1",
    "PUT /a.json HTTP/1.1\r\nContent-Length: 00000000000000000001\r\n\r\n1",
    "PUT /a.json HTTP/1.1\r\nContent-Length: 18446744073709551617\r\n\r\n1",
    "PUT /a.json HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n1",
    "PUT /a.json HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n",
    "PUT /a.json HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;x=\"\r\n\r\n\"\r\n1\r\n0\r\nX-Trailer: 1\r\n\r\n",
    "PUT /a.json HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n\r\n\r\n1\r\n0\r\n\r\n",
    "PUT /a.json HTTP/1.1\r\nTransfer-Encoding:\u{0B}chunked\r\n\r\n0\r\n\r\n",
    "PUT /a.json HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "PUT /a.json HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "PUT /a.json HTTP/1.1\r\nX: 1\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nX: 1\r\n\tfolded\r\n\r\n", "GET /a.json HTTP/1.1\r\n X: 1\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nX:\r\n 1\r\n\r\n",
    "GET /a.json HTTP/1.1\nHost: x\n\n", "GET /a.json HTTP/1.1\r\nHost: x\n\r\n", "GET /a.json HTTP/1.1\r\nHost: x\r\n\n",
    "GET /a.json HTTP/1.1\r\nX: a\rb\r\n\r\n", "GET /a.json HTTP/1.1\r\nX: a\nb: c\r\n\r\n",
    "GET /a.json HTTP/1.1\r\rX: a\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nX: a\u{0}b\r\n\r\n", "GET /a\u{0}.json HTTP/1.1\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nX\u{0}: a\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nX: é\r\n\r\n", "GET /é.json HTTP/1.1\r\n\r\n", "GET /a.json HTTP/1.1\r\nX: a\u{7F}\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nX: \r\n\r\n", "GET /a.json HTTP/1.1\r\nX: a\t\r\n\r\n", "GET /a.json HTTP/1.1\r\n: a\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "HEAD /a.json HTTP/1.1\r\nhost: x\r\nX: 1\r\nHOST: x\r\n\r\n",
    "GET http://a@other/a.json HTTP/1.1\r\nHost: x\r\n\r\n", "GET http:///a.json HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nX Y: a\r\n\r\n", "GET /a.json HTTP/1.1\r\nX\r\n\r\n", "GET /a.json HTTP/1.1\r\nX(: a\r\n\r\n",
    "GET http://other/a.json HTTP/1.1\r\nHost: x\r\n\r\n", "GET a.json HTTP/1.1\r\n\r\n", "GET * HTTP/1.1\r\n\r\n",
    "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\nGET /a.json HTTP/1.1\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
    "OPTIONS /a.json HTTP/1.1\r\nHost: x\r\n\r\n", "HEAD /a.json HTTP/1.1\r\nHost: x\r\n\r\n",
    "get /a.json HTTP/1.1\r\nHost: x\r\n\r\n",
    "GETS /a.json HTTP/1.1\r\n\r\n", "PUTT /a.json HTTP/1.1\r\n\r\n", "GET  /a.json HTTP/1.1\r\n\r\n",
    "GET /a.json  HTTP/1.1\r\n\r\n",
    "GET\t/a.json HTTP/1.1\r\n\r\n", "GET /a b.json HTTP/1.1\r\n\r\n", "GET /a#b.json HTTP/1.1\r\n\r\n",
    "GET /a.json HTTP/1.1 \r\n\r\n",
    "GET /a.json HTTP/1.0\r\nHost: x\r\n\r\n", "GET /a.json HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "GET /a.json HTTP/2.0\r\n\r\n",
    "GET /a.json HTTP/0.9\r\n\r\n", "GET /a.json HTTP/1.2\r\n\r\n", "GET /a.json http/1.1\r\n\r\n", "GET /a.json\r\n\r\n",
    "\r\nGET /a.json HTTP/1.1\r\n\r\n", "\r\n\r\n\r\n\r\nGET /a.json HTTP/1.1\r\n\r\n", "\nGET /a.json HTTP/1.1\r\n\r\n",
    " GET /a.json HTTP/1.1\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nConnection: close\r\n\r\n", "GET /a.json HTTP/1.1\r\nConnection: keep-alive, close\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nProxy-Connection: close\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nUpgrade: websocket\r\n\r\n",
    "PUT /a.json HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n1",
    "PUT /a.json HTTP/1.1\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n1", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "NONSENSE\r\n\r\n",
    "GET /a.json HTTP/1.1\r\nX: " + String(repeating: "h", count: 33 << 10) + "\r\n\r\n",
    "GET /" + String(repeating: "u", count: 33 << 10) + " HTTP/1.1\r\n\r\n",
    "GET /a.json HTTP/1.1\r\n" + String(repeating: "X: 1\r\n", count: 120) + "\r\n",
    "GET /a.json HTTP/1.1\r\n" + String(repeating: "X: 1\r\n", count: 300) + "\r\n",
  ]

  @Test("Whatever is unusual or wrong is left to NIO's decoder, and what comes of it is the same", arguments: declined)
  func declines(_ text: String) throws {
    #expect(Self.common(text) == nil)
    try Self.expectSame(Array(text.utf8))
  }

  @Test(
    "Common requests around an unusual one are answered as NIO's decoder has them, wherever the bytes are cut",
    arguments: declined)
  func surrounded(_ text: String) throws {
    let before = "PUT /before.json HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n1\r\n\r"
    let behind = "GET /behind.json HTTP/1.1\r\nHost: x\r\n\r\nPUT /last.json HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n2"
    let bytes = Array((before + text + behind).utf8)
    let place = before.utf8.count
    let step = max(1, text.utf8.count / 24)
    for cut in stride(from: place - 2, to: place + text.utf8.count + 6, by: step) {
      try Self.expectSame(bytes, cuts: [cut])
    }
    try Self.expectSame(bytes, cuts: [place, place + text.utf8.count])
  }

  @Test(
    "Behind an unusual request that keeps the connection, common ones are read by hand again",
    arguments: [
      "OPTIONS /a.json HTTP/1.1\r\nHost: x\r\n\r\n", "HEAD /a.json HTTP/1.1\r\nHost: x\r\n\r\n",
      "\r\nGET /a.json HTTP/1.1\r\n\r\n",
      "GET http://x/a.json HTTP/1.1\r\nHost: x\r\n\r\n",
      "PUT /a.json HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n\"\r\n\r\n\"",
      "PUT /a.json HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n\"\r\n\r\n\"\r\n0\r\n\r\n",
      "PUT /a.json HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\nX-Trailer: 1\r\n\r\n",
      "GET /a.json HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    ])
  func returns(_ text: String) throws {
    let common = "GET /b.json HTTP/1.1\r\nHost: x\r\n\r\n"
    for cut in 0..<text.utf8.count {
      let server = try EmbeddedServer(hasReader: true)
      try server.take(text.utf8.prefix(cut))
      try server.take(text.utf8.dropFirst(cut))
      try server.take((common + common).utf8)
      #expect(server.decodedCount == 1, "cut at \(cut)")
      #expect(try server.finish().requests.count == 3)
    }
  }

  @Test("A request that comes in two pieces is NIO's decoder's, and the next one is read by hand")
  func pieces() throws {
    let text = "PUT /a.json HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n1234"
    for cut in 1..<text.utf8.count {
      let server = try EmbeddedServer(hasReader: true)
      try server.take(text.utf8.prefix(cut))
      try server.take(text.utf8.dropFirst(cut))
      #expect(server.decodedCount == 1)
      try server.take(text.utf8)
      #expect(server.decodedCount == 1)
      #expect(try server.finish().requests.count == 2)
    }
  }

  @Test(
    "Behind a request that ends the connection nothing is read by hand",
    arguments: ["Connection: close", "Upgrade: x\r\nConnection: Upgrade"])
  func last(_ header: String) throws {
    let server = try EmbeddedServer(hasReader: true, answersLater: true)
    try server.take("GET /a.json HTTP/1.1\r\n\(header)\r\n\r\n".utf8)
    try server.take("GET /b.json HTTP/1.1\r\n\r\n".utf8)
    #expect(server.connection.pending.isEmpty)
    #expect(try server.finish().requests.count == 1)
  }

  private static func expectSame(_ bytes: [UInt8], cuts: [Int] = []) throws {
    let expected = try EmbeddedServer.outcome(of: bytes, cuts: cuts, hasReader: false)
    #expect(try EmbeddedServer.outcome(of: bytes, cuts: cuts, hasReader: true) == expected, "cut at \(cuts)")
  }
}
