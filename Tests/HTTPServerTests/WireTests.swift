@testable import APISupport
@testable import HTTPServer
import Logging
import NIOCore
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

/// HTTP itself: order, limits, endings.
struct WireTests {
  @Test("Pipelined requests are answered in their order, writes and reads mixed")
  func pipelining() async throws {
    try await APIServer.run { server in
      let connection = try await RawConnection.connect(to: server.port)
      var text = ""
      for number in 0..<200 {
        text += APIServer.text("PUT", "/p\(number % 7).json", "\(number)")
        text += APIServer.text("GET", "/p\(number % 7).json")
        text += APIServer.text("GET", "/healthz")
      }
      try await connection.send(text)
      for number in 0..<200 {
        #expect(try await connection.next()?.body == "\(number)")
        #expect(try await connection.next()?.body == "\(number)")
        #expect(try await connection.next()?.body == #"{"status":"ok"}"#)
      }
      try await connection.close()
    }
  }

  @Test("A flood of pipelined reads, each answered at once, does not nest")
  func flood() async throws {
    try await APIServer.run { server in
      let connection = try await RawConnection.connect(to: server.port)
      let count = 2000
      try await connection.send(String(repeating: "GET /a.json HTTP/1.1\r\n\r\n", count: count))
      for _ in 0..<count { #expect(try await connection.next()?.body == "null") }
      try await connection.close()
    }
  }

  @Test("What is behind a malformed request is not looked at; what was before it is answered first")
  func fault() async throws {
    try await APIServer.run { server in
      let connection = try await RawConnection.connect(to: server.port)
      try await connection.send(
        APIServer.text("PUT", "/a.json", "1") + "NONSENSE\r\n\r\n" + APIServer.text("PUT", "/a.json", "2"))
      #expect(try await connection.next()?.body == "1")
      let refusal = try await connection.next()
      #expect(refusal?.status == 400)
      #expect(refusal?["connection"] == "close")
      #expect(try await connection.next() == nil)
      #expect(try await server.value("/a.json") == "1")
    }
  }

  @Test(
    "Malformed requests get 400 and the connection ends",
    arguments: [
      "GET\r\n\r\n", "GET /a.json HTTP/9.9\r\n\r\n", "GET /a.json\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
      "PUT /a.json HTTP/1.1\r\nContent-Length: x\r\n\r\n",
      "PUT /a.json HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "PUT /a.json HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "GET /a.json HTTP/1.1\r\nbad header\r\n\r\n",
      "PUT /a.json HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
  func malformed(_ text: String) async throws {
    try await APIServer.run { server in
      let connection = try await RawConnection.connect(to: server.port)
      try await connection.send(text)
      let response = try await connection.next()
      #expect(response?.status == 400, "\(response?.body ?? "closed")")
      #expect(try await connection.next() == nil)
      #expect(try server.revision() == 0)
    }
  }

  @Test(
    "A body in a coding that nobody takes off is refused, and nothing of it is kept; chunks in any case of letters are taken",
    arguments: [
      ("gzip, chunked", 501), ("gzip\r\nTransfer-Encoding: chunked", 501), ("identity, chunked", 501), ("CHUNKED", 200),
    ])
  func codings(_ coding: String, status: Int) async throws {
    try await APIServer.run { server in
      let connection = try await RawConnection.connect(to: server.port)
      try await connection.send("PUT /a.json HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \(coding)\r\n\r\n1\r\n7\r\n0\r\n\r\n")
      #expect(try await connection.next()?.status == status)
      #expect(try server.revision() == (status == 200 ? 1 : 0))
      if status != 200 { #expect(try await connection.next() == nil) }
    }
  }

  /// What parsers in a row read differently, or a proxy takes for another request than the server behind it.
  private static let ambiguous = [
    "Host: x\r\nHost: y", "host: x\r\nX: 1\r\nHOST: x", "Content-Length: 1\r\nContent-Length: 2",
    "Content-Length: 1\r\nContent-Length: 1", "Content-Length: 1, 1", "Content-Length: +1",
    "Content-Length: 1\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 1",
    "Transfer-Encoding: identity", "Transfer-Encoding: chunked, identity", "Transfer-Encoding:\u{B}chunked",
    "Transfer-Encoding : chunked", "Transfer-Encoding:\r\n chunked", "X: 1\r\n folded", "X: 1\r\n\tfolded", "X : 1", "X Y: 1",
    "X\t: 1", ": 1", "X\u{0}: 1", "X: a\u{0}b", "X: a\rb", "X: a\nY: b", "X: a\u{7F}",
  ]

  @Test("Headers that may be read in two ways get 400 and the end: nothing behind them is a request", arguments: ambiguous)
  func ambiguity(_ headers: String) async throws {
    try await APIServer.run { server in
      let connection = try await RawConnection.connect(to: server.port)
      let behind = APIServer.text("PUT", "/behind.json", "1")
      try await connection.send("PUT /a.json HTTP/1.1\r\n\(headers)\r\n\r\n1" + behind)
      let response = try await connection.next()
      #expect(response?.status == 400 && response?["connection"] == "close", "\(response?.body ?? "closed")")
      #expect(try await connection.next() == nil)
      #expect(try server.revision() == 0)
    }
  }

  @Test(
    "Of a target that names its host that one counts, and no user",
    arguments: [
      ("http://127.0.0.1:1/a.json", 200), ("http://localhost/a.json?x=1", 200), ("http://a:b@localhost/a.json", 400),
      ("http:///a.json", 400), ("http://[::1/a.json", 400), ("a.json", 400), ("*", 400),
    ])
  func absolute(_ target: String, _ status: Int) async throws {
    try await APIServer.run { server in
      let connection = try await RawConnection.connect(to: server.port)
      try await connection.send("GET \(target) HTTP/1.1\r\nHost: other.example\r\n\r\n")
      #expect(try await connection.next()?.status == status)
      try? await connection.close()
    }
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target, headers: ["Host": "other.example"])
    let isSettled = head.settleHost()
    let host = target.contains("127") ? "127.0.0.1:1" : target.contains("localhost/a.json?") ? "localhost" : "other.example"
    #expect(isSettled == (status == 200 || !target.contains("://")) && (!isSettled || head.headers["host"] == [host]))
  }

  @Test("URLs that are none get 400, and the connection goes on", arguments: ["/%zz.json", "/a.json?x=%f", "/a.json?b=%ff"])
  func badURL(_ path: String) async throws {
    try await APIServer.run { server in
      let connection = try await RawConnection.connect(to: server.port)
      try await connection.send(APIServer.text("GET", path) + APIServer.text("GET", "/a.json"))
      #expect(try await connection.next()?.status == 400)
      #expect(try await connection.next()?.body == "null")
      try await connection.close()
    }
  }

  @Test("A body over the limit gets 413, by its announced length and while it arrives; nothing is written")
  func oversize() async throws {
    try await APIServer.run(configuration: .changed { $0.bodyBytesMax = 1000 }) { server in
      let large = "\"" + String(repeating: "x", count: 2000) + "\""
      let response = try await server.send("PUT", "/a.json", large)
      #expect(response.status == 413 && response["connection"] == "close")
      #expect(response.error?.contains("1000 bytes") == true)
      let connection = try await RawConnection.connect(to: server.port)
      connection.sendLoosely("PUT /a.json HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7d2\r\n\(large)\r\n0\r\n\r\n")
      #expect(try await connection.next()?.status == 413)
      #expect(try await connection.next() == nil)
      #expect(try await server.value("/a.json") == "null")
      let small = "\"" + String(repeating: "x", count: 900) + "\""
      #expect(try await server.send("PUT", "/a.json", small).status == 200)
      // writeSizeLimit=unlimited lifts the limit, for an administrator alone.
      #expect(try await server.send("PUT", "/a.json?writeSizeLimit=unlimited", large).status == 401)
      for address in ["/a.json?writeSizeLimit=unlimited", "/a.json?write%53izeLimit=unlimi%74ed"] {
        #expect(try await server.send("PUT", address, large, headers: APIServer.admin).status == 200)
      }
    }
  }

  @Test("Headers over the limit get 431")
  func headers() async throws {
    try await APIServer.run(configuration: .changed { $0.headerBytesMax = 1000 }) { server in
      let response = try await server.send("GET", "/a.json", headers: ["X-Long": String(repeating: "h", count: 1200)])
      #expect(response.status == 431)
    }
  }

  @Test("Expect: 100-continue is answered before the body is sent; other expectations are refused")
  func expectation() async throws {
    try await APIServer.run { server in
      let connection = try await RawConnection.connect(to: server.port)
      try await connection.send("PUT /a.json HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
      #expect(try await connection.next()?.status == 100)
      try await connection.send("7")
      #expect(try await connection.next()?.body == "7")
      try await connection.send("PUT /a.json HTTP/1.1\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n")
      #expect(try await connection.next()?.status == 417)
    }
  }

  @Test("HEAD has the headers of GET and no body; a chunked body is one body; HTTP/1.0 closes")
  func variants() async throws {
    try await APIServer.run { server in
      let connection = try await RawConnection.connect(to: server.port)
      try await connection.send("PUT /a.json HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n3\r\n,2]\r\n0\r\n\r\n")
      #expect(try await connection.next()?.body == "[1,2]")
      try await connection.send(APIServer.text("HEAD", "/a.json") + APIServer.text("GET", "/a.json"))
      let head = try await connection.next(isHead: true)
      #expect(head?["content-length"] == "5" && head?.status == 200)
      let get = try await connection.next()
      #expect(get?.body == "[1,2]")
      #expect(get?["date"] == "Tue, 14 Nov 2023 22:13:20 GMT")
      try await connection.send("GET http://elsewhere/a.json HTTP/1.0\r\n\r\n")
      #expect(try await connection.next()?.body == "[1,2]")
      #expect(try await connection.next() == nil)
    }
  }

  @Test("A connection is closed after its last allowed request, and after a wish for an upgrade")
  func lastRequest() async throws {
    try await APIServer.run(configuration: .changed { $0.requestsPerConnectionMax = 2 }) { server in
      let connection = try await RawConnection.connect(to: server.port)
      try await connection.send(APIServer.text("GET", "/a.json") + APIServer.text("GET", "/a.json"))
      #expect(try await connection.next()?["connection"] == nil)
      #expect(try await connection.next()?["connection"] == "close")
      #expect(try await connection.next() == nil)
      let upgrade = try await server.send("GET", "/a.json", headers: ["Connection": "Upgrade", "Upgrade": "h2c"])
      #expect(upgrade.status == 200 && upgrade["connection"] == "close")
    }
  }

  @Test("An idle client is closed, also in the middle of its headers")
  func idle() async throws {
    try await APIServer.run(configuration: .changed { $0.idleTimeout = .milliseconds(60) }) { server in
      let idle = try await RawConnection.connect(to: server.port)
      #expect(try await idle.next() == nil)
      let headerless = try await RawConnection.connect(to: server.port)
      headerless.sendLoosely("GET /a.json HTTP/1.1\r\nX-Sl")
      #expect(try await headerless.next() == nil)
    }
  }

  @Test("A client that does not finish its request gets 408")
  func slow() async throws {
    try await APIServer.run(configuration: .changed { $0.exchangeTimeout = .milliseconds(60) }) { server in
      let slow = try await RawConnection.connect(to: server.port)
      try await slow.send("PUT /a.json HTTP/1.1\r\nContent-Length: 10\r\n\r\n12")
      #expect(try await slow.next()?.status == 408)
      #expect(try await slow.next() == nil)
      #expect(try server.revision() == 0)
    }
  }

  @Test("A client that closes its side after the request still gets its answers")
  func halfClosed() async throws {
    try await APIServer.run { server in
      let connection = try await RawConnection.connect(to: server.port)
      try await connection.send(APIServer.text("PUT", "/a.json", "1") + APIServer.text("PUT", "/b.json", "2"))
      try await connection.finishSending()
      #expect(try await connection.next()?.body == "1")
      #expect(try await connection.next()?.body == "2")
      #expect(try await connection.next() == nil)
    }
  }

  @Test("A port that is taken is named in the error")
  func portTaken() async throws {
    try await APIServer.run { server in
      let second = HTTPServer(
        configuration: .changed { $0.port = server.port }, responder: server.router, metrics: server.metrics.http,
        clock: server.clock, logger: Logger(label: "test"))
      let error = await #expect(throws: HTTPServerError.self) { try await second.bind() }
      #expect(error?.description.contains("127.0.0.1:\(server.port)") == true)
    }
  }

  @Test("More connections than allowed are closed unanswered")
  func tooMany() async throws {
    try await APIServer.run(configuration: .changed { $0.connectionsMax = 1 }) { server in
      let first = try await RawConnection.connect(to: server.port)
      try await first.send(APIServer.text("GET", "/a.json"))
      #expect(try await first.next()?.status == 200)
      let second = try await RawConnection.connect(to: server.port)
      #expect(try await second.next() == nil)
      try await first.close()
    }
  }

  @Test("A stopping server answers what it has begun, says that it closes, and ends idle connections")
  func shutdown() async throws {
    try await APIServer.run { server in
      let idle = try await RawConnection.connect(to: server.port)
      try await idle.send(APIServer.text("GET", "/a.json"))
      #expect(try await idle.next()?.status == 200)
      let busy = try await RawConnection.connect(to: server.port)
      try await busy.send("PUT /a.json HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
      #expect(try await busy.next()?.status == 100)
      server.stop()
      #expect(try await idle.next() == nil)
      try await busy.send("5")
      let last = try await busy.next()
      #expect(last?.body == "5" && last?["connection"] == "close")
    }
  }
}

@Suite struct RequestTargetTests {
  @Test(
    "a URI is cut into its path and its decoded parameters",
    arguments: [
      ("/a/b.json", "/a/b.json", []), ("/a?x=1", "/a", ["x=1"]), ("/?", "/", []), ("http://host/a?x=%20", "/a", ["x= "]),
      ("http://host", "", []), ("https://host?x=/a.json", "", ["x=/a.json"]), ("/a?b=c=d&&=x&e", "/a", ["b=c=d", "=x", "e="]),
      ("/a?x=?&%78=%26", "/a", ["x=?", "x=&"]), ("//a", "//a", []), ("/a:b://c", "/a:b://c", []), ("/a?x=1+2", "/a", ["x=1 2"]),
    ])
  func cuts(_ uri: String, _ path: String, _ parameters: [String]) throws {
    let target = try #require(RequestTarget(uri))
    #expect(String(decoding: target.path, as: UTF8.self) == path)
    #expect(target.query.parameters.map { "\($0.name)=\($0.value)" } == parameters)
  }

  @Test("of two parameters of one name the last counts")
  func last() throws {
    let target = try #require(RequestTarget("/a?x=1&x=2"))
    #expect(target.query["x"] == "2" && target.query["y"] == nil)
  }

  @Test(
    "what is neither a path nor absolute, or is not percent-encoded UTF-8, is no URI",
    arguments: ["", "a", "*", "host:80", "a:b://c/d", "?x=/a", "?x=://h/a", "://h/a", "/a?x=%", "/a?x=%G0", "/a?%FF=1"])
  func refuses(_ uri: String) {
    #expect(RequestTarget(uri) == nil)
  }
}
