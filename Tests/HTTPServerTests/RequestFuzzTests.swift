import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import Testing

@testable import HTTPServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The two ways to read a request against each other, on requests that are nearly right.
///
/// A second for each in an ordinary run; `DOUBLOON_FUZZ_SECONDS` and `DOUBLOON_FUZZ_SEED` as for the other decoders.
struct RequestFuzzTests {
  private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

  /// Runs `body` with one seed after the other until the time is over.
  private static func run(_ body: (UInt64, inout RandomTree) throws -> Void) rethrows {
    let end = ContinuousClock.now + .seconds(number("DOUBLOON_FUZZ_SECONDS") ?? 1)
    var seed = UInt64(number("DOUBLOON_FUZZ_SEED") ?? 1)
    while ContinuousClock.now < end {
      for _ in 0..<20 {
        var source = RandomTree(seed: seed)
        try body(seed, &source)
        seed += 1
      }
    }
  }

  @Test("Whatever is read by hand is to NIO's decoder the same request, with nothing left over and no error")
  func parser() {
    var accepted = 0
    Self.run { seed, source in
      let bytes = Self.damaged(Self.request(&source, oddIn: 25), in: &source)
      let limits = CommonRequest.Limits(headBytesMax: 2000, bodyBytesMax: 3000)
      guard let (request, head) = bytes.withUnsafeBytes({ Self.read($0, limits: limits) }) else { return }
      accepted += 1
      let taken = bytes.prefix(request.headBytes + request.bodyBytes)
      guard let decoded = try? Self.decode(taken) else {
        Issue.record(
          "seed \(seed): to NIO's decoder this is no whole request: \(String(decoding: taken, as: UTF8.self).debugDescription)")
        return
      }
      #expect(decoded.head.method == request.method && decoded.head.uri == head.uri, "seed \(seed)")
      #expect(decoded.head.version == .http1_1 && decoded.head.isKeepAlive, "seed \(seed)")
      #expect(decoded.head.headers.map { [$0.name, $0.value] } == head.headers.map { [$0.name, $0.value] }, "seed \(seed)")
      #expect(decoded.body == Array(bytes[request.headBytes...].prefix(request.bodyBytes)), "seed \(seed)")
    }
    #expect(accepted > 0)
  }

  @Test("A connection does the same with requests read by hand as without, wherever the bytes are cut and whenever it answers")
  func connections() throws {
    try Self.run { seed, source in
      var bytes: [UInt8] = []
      for _ in 0..<source.pick([1, 2, 2, 3, 5]) { bytes += Self.request(&source, oddIn: source.pick([4, 15, 60])) }
      bytes = Self.damaged(bytes, in: &source)
      let cuts = (0..<source.pick([0, 0, 1, 2, 4, 9])).map { _ in Int.random(in: 0...bytes.count, using: &source.random) }
        .sorted()
      let (isLate, most) = (source.chance(2), source.pick([100, 32 << 10]))
      let outcomes = try [false, true].map { hasReader in
        try EmbeddedServer.outcome(
          of: bytes, cuts: cuts, hasReader: hasReader, answersLater: isLate, headerBytesMax: most)
      }
      #expect(
        outcomes[0] == outcomes[1], "seed \(seed), cut at \(cuts): \(String(decoding: bytes, as: UTF8.self).debugDescription)")
    }
  }

  private static func read(_ bytes: UnsafeRawBufferPointer, limits: CommonRequest.Limits) -> (CommonRequest, RequestHead)? {
    guard let request = CommonRequest(bytes, limits: limits) else { return nil }
    let lines = UnsafeRawBufferPointer(rebasing: bytes[request.target.lowerBound..<request.headBytes - 2])
    return (request, RequestHead(lines: lines, targetBytes: request.target.count))
  }

  /// One request as NIO's decoder reads it; fails where it reads no whole one, or more.
  private static func decode(_ bytes: some Sequence<UInt8>) throws -> (head: HTTPRequestHead, body: [UInt8]) {
    let channel = EmbeddedChannel(handler: ByteToMessageHandler(HTTPRequestDecoder()))
    defer { _ = try? channel.finish() }
    try channel.writeInbound(ByteBuffer(bytes: bytes))
    var parts: [HTTPServerRequestPart] = []
    while let part = try channel.readInbound(as: HTTPServerRequestPart.self) { parts.append(part) }
    guard case .head(let head) = try #require(parts.first), case .end(nil) = try #require(parts.last) else {
      throw Unfinished(parts: parts.map { "\($0)" })
    }
    let body = try parts.dropFirst().dropLast().flatMap { part throws -> [UInt8] in
      guard case .body(let bytes) = part else { throw Unfinished(parts: parts.map { "\($0)" }) }
      return Array(bytes.readableBytesView)
    }
    return (head, body)
  }

  private struct Unfinished: Error {
    let parts: [String]
  }
}

// MARK: - Requests

extension RequestFuzzTests {
  private static let headers = [
    "Host: x", "host: localhost:9000", "Accept: */*", "User-Agent: a/1.0 (b; c)", "X-Firebase-ETag: true",
    "Connection: keep-alive",
    "Connection: Keep-Alive", "Content-Type: application/json; charset=utf-8", "Authorization: Bearer a.b-c_d",
    "if-none-match: \"x=\"",
    "Cookie: a=b; c=\"d\"", "X:1", "X:   1", "!#$%&'*+-.^_`|~: 1", "TE: trailers", "Trailer: x", "Cache-Control: no-cache",
  ]

  private static let oddHeaders = [
    "X:", "X: ", "X: 1 ", "X : 1", "X: \t1", "X: é", " folded", "\tfolded", ": 1", "X", "X Y: 1", "X: a\u{0}b", "X: a\u{7F}",
    "X: a\rb", "X: a\nb", "(: 1", "Transfer-Encoding: chunked", "transfer-encoding: identity",
    "Transfer-Encoding: gzip, chunked",
    "Transfer-Encoding : chunked", "Content-Length: 1", "Content-Length: 01", "Content-Length: +1", "Content-Length: 1,1",
    "Content-Length: 99999999999999999999", "Content-Length:", "Content-Length: 1 2", "Content-Length: 0", "Connection: close",
    "Connection: upgrade", "Connection: x, close", "Proxy-Connection: close", "Proxy-Connection: keep-alive",
    "Upgrade: websocket",
    "Upgrade: h2c", "Expect: 100-continue", "Expect: 200-ok", "Keep-Alive: timeout=5", "HTTP2-Settings: x",
    "X: " + String(repeating: "long ", count: 30) + "end",
  ]

  /// A request of which one piece in so many is unusual or wrong.
  private static func request(_ source: inout RandomTree, oddIn: Int) -> [UInt8] {
    func pick(_ usual: [String], odd: [String]) -> String { source.chance(oddIn) ? source.pick(odd) : source.pick(usual) }
    func lineEnd() -> String { pick(["\r\n"], odd: ["\n", "\r", "\r\r\n", "\n\r", " \r\n"]) }
    var text = source.chance(oddIn) ? source.pick(["\r\n", "\n", " ", "\r\n\r\n", "\u{0}"]) : ""
    text += pick(
      ["GET", "PUT", "PATCH", "POST", "DELETE"],
      odd: ["HEAD", "OPTIONS", "CONNECT", "get", "PU", "PUTS", "PRI", "M-SEARCH", ""])
    text += pick([" "], odd: ["", "  ", "\t"])
    text += pick(
      ["/a.json", "/", "/a/b.json?x=1&y=%20", "/?", "//a!$'()*+,;=:@|\"<>^`{}~\\[]"],
      odd: ["a", "*", "http://h/a.json", "x:80", "/a#b", "/a b", "/é", "", "/\u{7F}", "/" + String(repeating: "u", count: 120)])
    text += pick(
      [" HTTP/1.1"],
      odd: [" HTTP/1.0", " HTTP/1.2", " HTTP/2.0", " http/1.1", "  HTTP/1.1", " HTTP/1.1 ", "", " HTTP/1", " HTTP/1.11"])
    text += lineEnd()
    for _ in 0..<source.pick([0, 1, 2, 3, 6]) { text += pick(headers, odd: oddHeaders) + lineEnd() }
    var body = ""
    switch source.pick([0, 0, 1, 1, 1, 1, 2]) {
    case 0: break
    case 1:
      body = source.pick(["1", "{\"a\":1}", "\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "", String(repeating: "[1],", count: 400)])
      let length = body.utf8.count + (source.chance(oddIn) ? source.pick([-1, 1, 7]) : 0)
      text += source.pick(["Content-Length: ", "content-length:"]) + "\(length)" + lineEnd()
    default:
      text += "Transfer-Encoding: chunked" + lineEnd()
      let chunk = source.pick(["1", "\r\n\r\n", "abcdefghij"])
      body = pick([String(chunk.utf8.count, radix: 16)], odd: ["zz", "", "-1", "1;a=b", "01"]) + lineEnd() + chunk + lineEnd()
      body += pick(["0\r\n\r\n", "0\r\nX: 1\r\n\r\n"], odd: ["0\r\n", "0\n\n", "", "0\r\nContent-Length: 5\r\n\r\n"])
    }
    return Array((text + lineEnd() + body).utf8)
  }

  /// Now and then with some bytes changed, put in or taken out.
  private static func damaged(_ bytes: [UInt8], in source: inout RandomTree) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<source.pick([0, 0, 0, 1, 1, 3]) where !bytes.isEmpty {
      let at = Int.random(in: 0..<bytes.count, using: &source.random)
      switch source.pick([0, 1, 2, 3]) {
      case 0: bytes[at] = UInt8.random(in: 0...255, using: &source.random)
      case 1: bytes.insert(source.pick([0, 0x7F, 0x80, 0xFF] + Array("\r\n \t:,/#0G".utf8)), at: at)
      case 2: bytes.remove(at: at)
      default: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &source.random)
      }
    }
    return bytes
  }
}
