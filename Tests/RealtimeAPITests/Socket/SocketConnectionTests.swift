import NIOCore
import ServerTestSupport
import StorageCore
import Testing
import TreeDatabase
import TreeModel

@testable import APISupport
@testable import HTTPServer
@testable import RealtimeAPI

/// The connection itself: its beginning, its limits, its end.
struct SocketConnectionTests {
  @Test("The greeting names the host as the client does, the version as text, the time as an integer")
  func hello() async throws {
    try await APIServer.run { server in
      for (path, headers, host, shown) in [
        ("/.ws?v=5&ns=game", [:], "10.0.2.2:9000", "10.0.2.2:9000"),
        ("/.ws?ns=game&v=5&p=1:2:web:3", [:], "[::1]:9000", "[::1]:9000"),
        ("/.ws?v=5", ["X-Forwarded-Host": "db.example.org:8443, inner"], "inner:1", "db.example.org:8443"),
        ("/.ws?v=5", ["X-Forwarded-Host": "<script>"], "localhost", "localhost"),
        ("/.ws?v=5&ns=game", [:], "s-usc1c-nss-200.example.org", "S-usc1c-nss-200.example.org"),
      ] as [(String, [String: String], String, String)] {
        let (client, answer) = try await SocketClient.open(
          to: server.port, path, headers: SocketClient.handshake.merging(headers) { $1 }, host: host)
        #expect(answer.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
        let hello = try #require(try await client.next())
        let session = try #require(try JSONParser.parse(hello)["d"]?["d"]?["s"]?.string)
        #expect(session.utf8.count == 32)
        #expect(
          hello == #"{"t":"c","d":{"t":"h","d":{"ts":1700000000000,"v":"5","h":"\#(shown)","s":"\#(session)","x":["k"]}}}"#)
        try await client.close()
      }
    }
  }

  @Test("A connection that was used for HTTP can become a socket, and bytes right behind the handshake are not lost")
  func keepAlive() async throws {
    try await APIServer.run { server in
      let early = ClientFrameTests.text(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}"#)
      let (client, answer) = try await SocketClient.open(to: server.port, behind: early)
      #expect(answer.hasPrefix("HTTP/1.1 101"))
      _ = try await client.next()
      #expect(try await client.answer() == #"{"r":1,"b":{"s":"ok","d":""}}"#)
      #expect(try await server.value("/a.json") == "1")
      try await client.close()
    }
  }

  struct Handshake: Sendable, CustomTestStringConvertible {
    let name: String
    var path = "/.ws?v=5"
    let headers: [String: String?]
    let status: Int
    var testDescription: String { name }
  }

  @Test(
    "Requests that are no handshake are answered with what is missing",
    arguments: [
      Handshake(name: "no upgrade", headers: ["Upgrade": nil], status: 426),
      Handshake(name: "another protocol", headers: ["Upgrade": "h2c"], status: 426),
      Handshake(name: "no connection header", headers: ["Connection": "close"], status: 400),
      Handshake(name: "old version", headers: ["Sec-WebSocket-Version": "8"], status: 426),
      Handshake(name: "no key", headers: ["Sec-WebSocket-Key": nil], status: 400),
      Handshake(name: "bad key", headers: ["Sec-WebSocket-Key": "short"], status: 400),
      Handshake(name: "protocol version", path: "/.ws?v=4", headers: [:], status: 400),
      Handshake(name: "session that is over", path: "/.ws?v=5&s=gone", headers: [:], status: 404),
      Handshake(name: "elsewhere", path: "/a.json", headers: [:], status: 200),
    ])
  func refused(_ handshake: Handshake) async throws {
    try await APIServer.run { server in
      var headers = SocketClient.handshake
      for (name, value) in handshake.headers { headers[name] = value }
      let (client, answer) = try await SocketClient.open(to: server.port, handshake.path, headers: headers)
      #expect(answer.hasPrefix("HTTP/1.1 \(handshake.status)"), "\(answer)")
      try await client.close()
    }
  }

  @Test("A namespace that cannot be is refused with a text that stops the client", arguments: ["no_such", "", "a%2Fb"])
  func badNamespace(_ name: String) async throws {
    try await APIServer.run { server in
      let (client, _) = try await SocketClient.open(to: server.port, "/.ws?v=5&ns=\(name)")
      _ = try await client.next()
      let message = try #require(try await client.next())
      #expect(message.hasPrefix(#"{"t":"c","d":{"t":"s","d":""#) && message.contains("1-64 letters"), "\(message)")
      #expect(try await client.next() == nil)
    }
  }

  @Test("In production an unknown namespace is refused, not made")
  func unknownNamespace() async throws {
    try await APIServer.run(access: SocketSessionTests.production) { server in
      let (client, _) = try await SocketClient.open(to: server.port, "/.ws?v=5&ns=other")
      _ = try await client.next()
      #expect(try await client.next()?.contains(#"There is no database \"other\" here"#) == true)
      #expect(try await client.next() == nil)
      #expect(server.database.namespace(named: "other") == nil)
    }
  }

  @Test(
    "What is no message ends the connection with a text, and nothing behind it is looked at",
    arguments: [
      "{", "nonsense", "[]", "{}", #"{"t":"d"}"#, #"{"t":"d","d":5}"#, #"{"t":"d","d":{"a":"p","b":{}}}"#,
      #"{"t":"d","d":{"r":"1","a":"p","b":{}}}"#, #"{"t":"x","d":{}}"#, #"{"t":"c","d":{}}"#, "\u{FEFF}{}",
      String(repeating: "[", count: 5000), #"{"t":"d","d":{"r":1.5,"a":"p","b":{}}}"#,
    ])
  func malformed(_ text: String) async throws {
    try await APIServer.run { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      client.sendLoosely(
        ClientFrameTests.text(text)
          + ClientFrameTests.text(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}"#))
      #expect(try await client.next()?.hasPrefix(#"{"t":"c","d":{"t":"e","d":""#) == true)
      #expect(try await client.next() == nil)
      #expect(try await client.controlFrames().contains { $0.opcode == 8 && $0.payload.starts(with: [0x03, 0xF0]) })
      #expect(try server.revision() == 0)
      // The client may know of the end before the server has counted it.
      let isCounted = try await becomes { server.metrics.sockets.open == 0 }
      #expect(isCounted)
    }
  }

  @Test("Frames that are no client's end the connection", arguments: ClientFrameTests.badFrameRows)
  func badFrames(_ frame: ClientFrameTests.BadFrame) async throws {
    var limits = SocketLimits()
    limits.messageBytesMax = 1000
    try await APIServer.run(sockets: limits) { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      client.sendLoosely(frame.bytes)
      #expect(try await client.next() == nil)
      let close = try await client.controlFrames().first { $0.opcode == 8 }
      #expect(close.map { Int($0.payload[0]) << 8 | Int($0.payload[1]) } == Int(frame.code.rawValue))
    }
  }

  @Test("A message of more values than a write may have ends the connection while it is parsed")
  func manyValues() async throws {
    try await APIServer.run(limits: WriteLimits(leavesMax: 10)) { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      let data = "[" + String(repeating: "0,", count: 200) + "0]"
      client.sendLoosely(ClientFrameTests.text(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":\#(data)}}}"#))
      #expect(try await client.next()?.contains("too many values") == true)
      #expect(try await client.next() == nil)
      #expect(try await client.controlFrames().contains { $0.opcode == 8 && $0.payload.starts(with: [0x03, 0xF1]) })
      #expect(try server.revision() == 0)
    }
  }

  @Test("A client that lies about its pieces, or sends too much, is ended")
  func liars() async throws {
    var limits = SocketLimits()
    limits.messageBytesMax = 1000
    try await APIServer.run(sockets: limits) { server in
      for frames in [["10000"], ["3", "{", "}", String(repeating: "x", count: 999)], ["2", "{", #"{"t":"d"}"#]] {
        let (client, _) = try await SocketClient.connect(to: server.port)
        client.sendLoosely(frames.flatMap { ClientFrameTests.text($0) })
        while let message = try await client.next() { #expect(message.hasPrefix(#"{"t":"c","d":{"t":"e""#)) }
      }
    }
  }

  @Test("Large text in both directions, cut into pieces, fragments and frames")
  func large() async throws {
    try await APIServer.run { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      let text = String(repeating: "x", count: 16_350) + String(repeating: "😀€é", count: 60_000)
      let message = Array(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/big","d":"\#(text)"}}}"#.utf8)
      let pieces = try #require(MessagePieces.cut(message))
      var bytes = ClientFrameTests.text("\(pieces.count)")
      for piece in pieces {
        let middle = piece.lowerBound + piece.count / 2
        bytes += ClientFrameTests.frame(0x01, Array(message[piece.lowerBound..<middle]))
        bytes += ClientFrameTests.frame(0x80, Array(message[middle..<piece.upperBound]))
      }
      try await client.write(bytes)
      #expect(try await client.answer() == #"{"r":1,"b":{"s":"ok","d":""}}"#)
      try await client.request(#"{"r":2,"a":"q","b":{"p":"/big","h":""}}"#)
      let push = try #require(try await client.answer())
      #expect(push == #"{"a":"d","b":{"p":"big","d":"\#(text)"}}"#)
      #expect(try await client.answer() == #"{"r":2,"b":{"s":"ok","d":{}}}"#)
      try await client.request(#"{"r":3,"a":"g","b":{"p":"/big"}}"#)
      #expect(try await client.answer() == #"{"r":3,"b":{"s":"ok","d":"\#(text)"}}"#)
      try await client.close()
    }
  }

  @Test("A silent client is asked, and stays if it answers; one that does not answer is gone")
  func halfOpen() async throws {
    var limits = SocketLimits()
    limits.pingInterval = .milliseconds(50)
    limits.silenceMax = .seconds(4)
    try await APIServer.run(sockets: limits) { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      let (dead, _) = try await SocketClient.connect(to: server.port)
      // It reads nothing any more, as a machine that lost its network.
      try await dead.pause()
      #expect(try await becomes { server.metrics.sockets.open == 1 })
      #expect(try await client.controlFrames().filter { $0.opcode == 9 }.count >= 8)
      try await client.request(#"{"r":2,"a":"s","b":{}}"#)
      #expect(try await client.answer() == #"{"r":2,"b":{"s":"ok","d":""}}"#)
      #expect(server.metrics.sockets.open == 1)
      try await client.close()
      try await dead.close()
    }
  }

  @Test("A ping is answered with its payload, a close with a close")
  func control() async throws {
    try await APIServer.run { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      try await client.write(ClientFrameTests.frame(0x89, [1, 2, 3]) + ClientFrameTests.frame(0x88, [0x03, 0xE8]))
      #expect(try await client.next() == nil)
      let frames = try await client.controlFrames()
      #expect(frames.map(\.opcode) == [10, 8])
      #expect(frames.map(\.payload) == [[1, 2, 3], [0x03, 0xE8]])
    }
  }

  @Test("A client that sends more than it lets be answered is not read from, and served when it reads")
  func flood() async throws {
    var limits = SocketLimits()
    limits.requestsMax = 8
    limits.writesMax = 4
    try await APIServer.run(sockets: limits) { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      var bytes: [UInt8] = []
      for number in 1...2000 {
        bytes += ClientFrameTests.text(
          number % 3 == 0
            ? #"{"t":"d","d":{"r":\#(number),"a":"g","b":{"p":"/n"}}}"#
            : #"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"/n","d":\#(number)}}}"#)
      }
      client.sendLoosely(bytes)
      for number in 1...2000 {
        let answer = try await client.answer()
        #expect(answer == #"{"r":\#(number),"b":{"s":"ok","d":\#(number % 3 == 0 ? "\(number - 1)" : "\"\"")}}"#)
        guard answer != nil else { return }
      }
      try await client.close()
    }
  }

  @Test("A client that does not read what it asked for is cut off; others go on")
  func slowReader() async throws {
    var limits = SocketLimits()
    limits.pingInterval = .milliseconds(100)
    limits.silenceMax = .milliseconds(500)
    limits.bytesPerSecondMin = 100 << 20
    try await APIServer.run(sockets: limits) { server in
      let text = String(repeating: "x", count: 1 << 20)
      #expect(try await server.send("PUT", "/big.json", "\"\(text)\"").status == 200)
      var requests = ClientFrameTests.text(#"{"t":"d","d":{"r":99,"a":"p","b":{"p":"/seen","d":1}}}"#)
      requests += (0..<60).flatMap { number in
        ClientFrameTests.text(#"{"t":"d","d":{"r":\#(number),"a":"g","b":{"p":"/big"}}}"#)
      }
      let (slow, _) = try await SocketClient.open(to: server.port, behind: requests, stopsReading: true)
      #expect(try await becomes { try await server.value("/seen.json") == "1" })
      // Because it does not read, or because it therefore answers no ping: whichever limit is met first.
      #expect(try await becomes { server.metrics.sockets.open == 0 })
      #expect(try await server.value("/none.json") == "null")
      try await slow.close()
    }
  }

  @Test("No more sessions than are allowed, and a place is free again when one ends")
  func full() async throws {
    var limits = SocketLimits()
    limits.sessionsMax = 2
    try await APIServer.run(sockets: limits) { server in
      let (first, _) = try await SocketClient.connect(to: server.port)
      let (second, _) = try await SocketClient.connect(to: server.port)
      let (third, answer) = try await SocketClient.open(to: server.port)
      #expect(answer.hasPrefix("HTTP/1.1 503"))
      try await third.close()
      try await first.close()
      #expect(try await becomes { server.metrics.sockets.open == 1 })
      var next = try await SocketClient.open(to: server.port)
      while !next.answer.hasPrefix("HTTP/1.1 101") { next = try await SocketClient.open(to: server.port) }
      try await next.client.close()
      try await second.close()
    }
  }

  @Test("A server that stops says so, writes what was registered for the end, and has everything on disk")
  func stop() async throws {
    try await APIServer.run { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      try await client.request(#"{"r":1,"a":"o","b":{"p":"/presence","d":"offline"}}"#)
      #expect(try await client.answer() == #"{"r":1,"b":{"s":"ok","d":""}}"#)
      server.stop()
      #expect(try await client.next() == nil)
      #expect(try await client.controlFrames().last?.payload.starts(with: [0x03, 0xE9]) == true)
      _ = await server.running.result
      #expect(try server.revision() == 1)
    }
  }

  @Test("What is counted can be seen")
  func metrics() async throws {
    try await APIServer.run { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      try await client.request(#"{"r":1,"a":"s","b":{}}"#)
      _ = try await client.answer()
      let text = try await server.value("/metrics")
      for line in [
        "doubloon_sockets 1", "doubloon_socket_sessions_total 1", "doubloon_socket_requests_total 1",
        "doubloon_socket_frames_received_total 1", "doubloon_socket_frames_sent_total 2",
      ] { #expect(text.contains("\n\(line)\n"), "\(line)") }
      try await client.close()
    }
  }
}
