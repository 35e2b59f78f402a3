@testable import APISupport
@testable import HTTPServer
import NIOCore
import NIOEmbedded
import NIOHTTP1
@testable import RealtimeAPI
import ServerTestSupport
import Testing
import TreeDatabase
import TreeModel

/// Long polling, as a browser's page does it (firebase-js-sdk, `BrowserPollConnection.ts`).
struct LongPollTests {
  /// A page: sends its messages in segments, and polls.
  struct Page: Sendable {
    let server: APIServer
    let id: String
    let password: String
    let hello: JSON

    static func open(_ server: APIServer, _ parameters: String = "") async throws -> Page {
      let answer = try await server.send("GET", "/.lp?start=t&ser=1&cb=7&v=5&ns=game\(parameters)")
      #expect(answer.status == 200)
      #expect(answer["content-type"] == "application/javascript; charset=utf-8")
      #expect(answer.body.contains(#"parent.window["pLPCommand7"]"#) && answer.body.contains(#"parent.window["pRTLPCB7"]"#))
      let start = try #require(answer.body.split(separator: "\n").first { $0.hasPrefix("pLPCommand('start',") })
      let words = start.split(separator: "'")
      let messages = try Self.messages(answer.body, number: 0)
      return Page(server: server, id: String(words[3]), password: String(words[5]), hello: try #require(messages.first))
    }

    /// The messages of an answer, which must have this number.
    static func messages(_ script: String, number: Int) throws -> [JSON] {
      let line = try #require(script.split(separator: "\n").first { $0.hasPrefix("pRTLPCB(\(number),") }, "\(script)")
      return try #require(try JSONParser.parse(String(line.dropFirst("pRTLPCB(\(number),".count).dropLast(2))).array)
    }

    func get(_ query: String) async throws -> String {
      try await server.send("GET", "/.lp?id=\(id)&pw=\(password)&ser=1&ns=game\(query)").body
    }

    /// The query that carries messages, each cut into segments of a size.
    static func query(_ messages: [String], from first: Int = 0, size: Int = 1000) -> String {
      var number = first
      var query = ""
      var index = 0
      for message in messages {
        let text = Self.base64(Array(message.utf8))
        let pieces = stride(from: 0, to: text.count, by: size).map { Array(text[$0..<min($0 + size, text.count)]) }
        for piece in pieces {
          query += "&seg\(index)=\(number)&ts\(index)=\(pieces.count)&d\(index)=\(String(decoding: piece, as: UTF8.self))"
          index += 1
          number += 1
        }
      }
      return query
    }

    /// As the JavaScript client encodes: URL-safe, padded with points.
    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
      let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
      var text: [UInt8] = []
      for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = Array(bytes[start..<min(start + 3, bytes.count)])
        let word = group.enumerated().reduce(0) { $0 | Int($1.element) << (16 - 8 * $1.offset) }
        for index in 0..<4 { text.append(index <= group.count ? alphabet[word >> (18 - 6 * index) & 63] : UInt8(ascii: ".")) }
      }
      return text
    }
  }

  @Test("A page connects, writes in segments, listens and is told")
  func conversation() async throws {
    try await APIServer.run { server in
      let page = try await Page.open(server)
      #expect(page.hello["d"]?["d"]?["v"]?.string == "5")
      #expect(page.hello["d"]?["d"]?["h"]?.string == "localhost")
      let query = Page.query(
        [
          #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}"#, #"{"t":"d","d":{"r":2,"a":"p","b":{"p":"/a","d":"é😀"}}}"#,
        ], size: 24)
      var received: [JSON] = []
      var number = 1
      var script = try await page.get(query)
      while true {
        received += try Page.messages(script, number: number)
        number += 1
        guard received.count < 3 else { break }
        script = try await page.get("")
      }
      #expect(received.compactMap { $0["d"]?["r"]?.int } == [1, 2])
      #expect(received.contains { $0["d"]?["a"]?.string == "d" && $0["d"]?["b"]?["d"]?.string == "é😀" })
      #expect(try await page.server.send("GET", "/.lp?disconn=t&id=\(page.id)&pw=\(page.password)").status == 204)
      #expect(try await becomes { server.metrics.sockets.open == 0 })
      #expect(try await page.get("") == "pLPCommand('close');\n")
    }
  }

  @Test("Two polls at most are open: the older is let go when another comes; requests may overtake each other")
  func polls() async throws {
    try await APIServer.run { server in
      let page = try await Page.open(server)
      async let first = page.get("")
      // The write's answer comes with whichever poll is the oldest; its second segment is here before the first.
      let message = #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}"#
      let segments = Page.query([message], size: 40).split(separator: "&seg").map { "&seg" + $0 }
      #expect(segments.count == 2)
      async let second = page.get(
        segments[1].replacing("seg1", with: "seg0").replacing("ts1", with: "ts0").replacing("d1", with: "d0"))
      async let third = page.get(segments[0])
      let bodies = try await [first, second, third]
      let all = bodies.flatMap { body in body.split(separator: "\n") }
      #expect(all.count == 3 && all.allSatisfy { $0.hasPrefix("pRTLPCB(") }, "\(all)")
      #expect(try await server.value("/a.json") == "1")
    }
  }

  @Test("A page that polls no more is gone, and its end is written")
  func gone() async throws {
    var limits = SocketLimits()
    limits.pollGap = .seconds(1)
    try await APIServer.run(sockets: limits) { server in
      // On a machine that is busy with other tests the first poll may come too late: then another page tries.
      let register = Page.query([#"{"t":"d","d":{"r":1,"a":"o","b":{"p":"/a","d":"off"}}}"#])
      let isRegistered = try await becomes {
        let script = try await Page.open(server).get(register)
        return try script.hasPrefix("pRTLPCB(1,") && Page.messages(script, number: 1).first?["d"]?["r"]?.int == 1
      }
      #expect(isRegistered)
      // Nobody asks again.
      #expect(try await becomes { server.metrics.sockets.open == 0 })
      #expect(try await becomes { try server.revision() == 1 })
      #expect(try await server.value("/a.json") == #""off""#)
    }
  }

  @Test("A page moves to a WebSocket while its listens and writes go on", arguments: 0..<4)
  func upgrade(_ round: Int) async throws {
    try await APIServer.run { server in
      let page = try await Page.open(server)
      let session = try #require(page.hello["d"]?["d"]?["s"]?.string)
      let listened = try await page.get(Page.query([#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}"#]))
      #expect(try Page.messages(listened, number: 1).first?["d"]?["r"]?.int == 1)
      async let poll = page.get("")
      let (socket, answer) = try await SocketClient.open(to: server.port, "/.ws?v=5&ns=game&s=\(session)")
      #expect(answer.hasPrefix("HTTP/1.1 101"))
      #expect(try await socket.next() == #"{"t":"c","d":{"t":"a","d":null}}"#)
      for _ in 0..<2 {
        try await socket.send(#"{"t":"c","d":{"t":"p","d":{}}}"#)
        #expect(try await socket.next() == #"{"t":"c","d":{"t":"o","d":null}}"#)
      }
      try await socket.send(#"{"t":"c","d":{"t":"a","d":{}}}"#)
      // Sent behind the old transport's last word, and here before it.
      try await socket.request(#"{"r":3,"a":"p","b":{"p":"/a","d":3}}"#)
      let last = Page.query(
        [#"{"t":"d","d":{"r":2,"a":"p","b":{"p":"/a","d":2}}}"#, #"{"t":"c","d":{"t":"n","d":{}}}"#], from: 1)
      async let end = page.get(last)
      let scripts = try await poll + end
      #expect(scripts.contains(#"{"t":"c","d":{"t":"n","d":null}}"#) && scripts.contains("pLPCommand('close',"), "\(scripts)")
      var received: [String] = []
      while received.last != #"{"r":3,"b":{"s":"ok","d":""}}"# { received.append(try #require(try await socket.answer())) }
      #expect(received.contains(#"{"a":"d","b":{"p":"a","d":3}}"#))
      try await socket.request(#"{"r":4,"a":"g","b":{"p":"/a"}}"#)
      #expect(try await socket.answer() == #"{"r":4,"b":{"s":"ok","d":3}}"#)
      #expect(server.metrics.sockets.open == 1)
      try await socket.close()
      #expect(try await becomes { server.metrics.sockets.open == 0 })
    }
  }

  @Test(
    "Requests that are none are answered, and do no harm",
    arguments: [
      ("GET", "/.lp?start=t&cb=alert(1)&ns=game", 400), ("GET", "/.lp?start=t&v=4&ns=game", 400),
      ("POST", "/.lp?start=t&ns=game", 405), ("GET", "/.lp", 200), ("GET", "/.lp?id=x&pw=y", 200),
    ])
  func refused(_ method: String, _ path: String, _ status: Int) async throws {
    try await APIServer.run { server in
      let answer = try await server.send(method, path)
      #expect(answer.status == status)
      if status == 200 { #expect(answer.body == "pLPCommand('close');\n") }
    }
  }

  @Test("The password is needed, segments are judged, and a page's farewell frame knows its own session")
  func strangers() async throws {
    try await APIServer.run { server in
      let page = try await Page.open(server)
      #expect(try await server.value("/.lp?id=\(page.id)&pw=wrong&ns=game") == "pLPCommand('close');\n")
      #expect(try await server.send("GET", "/.lp?id=\(page.id)&pw=\(page.password)&seg0=x&ts0=1&d0=a").status == 400)
      let frame = try await server.send("GET", "/.lp?dframe=t&id=\(page.id)&pw=\(page.password)")
      #expect(frame["content-type"] == "text/html; charset=utf-8")
      #expect(frame.body.contains("/.lp?disconn=t&id=\(page.id)&pw=\(page.password)"))
      let script = try await page.get("&seg0=0&ts0=1&d0=!!!")
      #expect(script.contains("pLPCommand('close'"), "\(script)")
      #expect(try await becomes { server.metrics.sockets.open == 0 })
    }
  }

  @Test("Segments are put in order; more than may wait, or than a message may have, is a fault")
  func segments() throws {
    var segments = LongPollSegments(bytesMax: 100)
    #expect(try segments.take([.init(number: 1, total: 2, text: "MX0.")]).isEmpty)
    #expect(try segments.take([.init(number: 0, total: 2, text: "eyJhIjog")]) == [Array(#"{"a": 1}"#.utf8)])
    #expect(try segments.take([.init(number: 0, total: 2, text: "again")]).isEmpty)
    #expect(throws: WebSocketError.self) {
      try segments.take([.init(number: 2, total: 2, text: String(repeating: "A", count: 150))])
    }
    var gaps = LongPollSegments(bytesMax: 100)
    #expect(throws: WebSocketError.self) {
      try gaps.take((1...300).map { .init(number: $0, total: 1, text: "A") })
    }
  }

  @Test("JSON becomes a script that older browsers read too")
  func script() {
    let message = Array("{\"a\":\"\u{2028}\u{2029}\u{2027}é\"}".utf8)
    #expect(
      String(decoding: LongPollScript.answer(3, messages: [message, [48]], closesAfter: 3), as: UTF8.self)
        == "pRTLPCB(3,[{\"a\":\"\\u2028\\u2029\u{2027}é\"},0]);\npLPCommand('close',3);\n")
  }
}

/// Rules bind a page that polls as they bind everybody (firebase-js-sdk, `BrowserPollConnection.ts`).
struct LongPollRulesTests {
  private static let rules =
    #"{"rules":{"own":{"$uid":{".read":"auth.uid==$uid",".write":"auth.uid==$uid",".validate":"newData.isNumber()"}}}}"#

  /// A page that sends one request after the other and collects what comes back.
  struct Talk {
    let page: LongPollTests.Page
    var number = 1
    var segment = 0
    var received: [JSON] = []

    init(_ page: LongPollTests.Page) { self.page = page }

    /// Sends a request, and polls until it is answered; what else came is kept.
    mutating func ask(_ request: String) async throws -> JSON {
      let wanted = try JSONParser.parse(request)["r"]?.int
      var query = LongPollTests.Page.query(["{\"t\":\"d\",\"d\":\(request)}"], from: segment)
      segment += 1
      while true {
        try await poll(query)
        query = ""
        if let answer = received.first(where: { $0["r"]?.int == wanted }) { return answer["b"] ?? .null }
      }
    }

    /// Polls until the server says something of this kind.
    mutating func pushed(_ action: String) async throws -> JSON {
      while true {
        if let push = received.first(where: { $0["a"]?.string == action }) { return push["b"] ?? .null }
        try await poll("")
      }
    }

    private mutating func poll(_ query: String) async throws {
      received += try LongPollTests.Page.messages(try await page.get(query), number: number).compactMap { $0["d"] }
      number += 1
    }
  }

  @Test("Reads, writes and listens of a page are judged as who it is; new rules and another token revoke what it listens to")
  func judged() async throws {
    try await APIServer.run { server in
      try await server.expect(.init("PUT", "/.settings/rules.json", Self.rules, headers: APIServer.admin))
      var talk = Talk(try await LongPollTests.Page.open(server))
      #expect(try await talk.ask(#"{"r":1,"a":"q","b":{"p":"/own/bob","h":""}}"#)["s"] == "permission_denied")
      #expect(try await talk.ask(#"{"r":2,"a":"p","b":{"p":"/own/bob","d":1}}"#)["s"] == "permission_denied")
      #expect(try await talk.ask(#"{"r":3,"a":"g","b":{"p":"/own/bob","q":{}}}"#)["s"] == "permission_denied")
      #expect(try await talk.ask(#"{"r":4,"a":"auth","b":{"cred":"\#(RulesTests.token("bob"))"}}"#)["s"] == "ok")
      #expect(try await talk.ask(#"{"r":5,"a":"p","b":{"p":"/own/bob","d":"text"}}"#)["s"] == "permission_denied")
      #expect(try await talk.ask(#"{"r":6,"a":"p","b":{"p":"/own/bob","d":1}}"#)["s"] == "ok")
      #expect(try await talk.ask(#"{"r":7,"a":"q","b":{"p":"/own/bob","h":""}}"#)["s"] == "ok")
      #expect(try await talk.pushed("d") == ["p": "own/bob", "d": 1])
      #expect(try await talk.ask(#"{"r":8,"a":"o","b":{"p":"/own/eve","d":1}}"#)["s"] == "permission_denied")
      #expect(try await server.value("/own/bob.json?auth=\(RulesTests.token("bob"))") == "1")
      // Somebody else now: the listen ends.
      #expect(try await talk.ask(#"{"r":9,"a":"auth","b":{"cred":"\#(RulesTests.token("eve"))"}}"#)["s"] == "ok")
      #expect(try await talk.pushed("c") == ["p": "own/bob"])
      #expect(try await talk.ask(#"{"r":10,"a":"q","b":{"p":"/own/eve","h":""}}"#)["s"] == "ok")
      talk.received = []
      try await server.expect(.init("PUT", "/.settings/rules.json", #"{"rules":{}}"#, headers: APIServer.admin))
      #expect(try await talk.pushed("c") == ["p": "own/eve"])
    }
  }
}

/// How long a page may be without a poll, on a loop whose time the test moves.
struct LongPollTimeTests {
  /// A page that has polled once; its answers go nowhere.
  private static func page(
    of server: APIServer, sending segments: [LongPollSegments.Segment] = [], on loop: NIOAsyncTestingEventLoop
  ) async throws -> NIOLoopBound<LongPollConnection> {
    // Known already, so that the session begins at once.
    _ = try await server.database.openNamespace(named: "game")
    let sessions = server.sockets.sessions
    return try await loop.executeInContext {
      let start = try #require(
        try? SocketStart(query: QueryString(), headers: ["host": "localhost"], services: sessions.services))
      let session = SocketSession(id: "page", start: start, client: .unknown, sessions: sessions, eventLoop: loop)
      let page = LongPollConnection(
        session: session, limits: sessions.limits, memory: server.memory, metrics: server.metrics.sockets, onEnd: {})
      _ = page.start()
      let connection = HTTPConnection(
        configuration: .changed { _ in }, responder: server.router, metrics: server.metrics.http, clock: server.clock,
        memory: server.memory, registry: ConnectionRegistry(connectionsMax: 1))
      page.poll(segments, sink: ResponseSink(connection: connection, number: 1, eventLoop: loop, client: .unknown, work: nil))
      return NIOLoopBound(page, eventLoop: loop)
    }
  }

  private static func isOpen(_ page: NIOLoopBound<LongPollConnection>, on loop: NIOAsyncTestingEventLoop) async throws -> Bool {
    try await loop.executeInContext { page.value.session.isOpen }
  }

  @Test("A page whose poll was answered just before its time was over has the whole time to come again")
  func answeredLate() async throws {
    try await APIServer.run { server in
      let loop = NIOAsyncTestingEventLoop()
      let page = try await Self.page(of: server, on: loop)
      let gap = server.sockets.sessions.limits.pollGap
      await loop.advanceTime(by: gap - .milliseconds(50))
      try await loop.executeInContext { page.value.send(SocketAnswers.control("o")) }
      await loop.advanceTime(by: gap - .milliseconds(50))
      #expect(try await Self.isOpen(page, on: loop))
      // It never comes.
      await loop.advanceTime(by: .milliseconds(100))
      #expect(try await !Self.isOpen(page, on: loop))
      await loop.shutdownGracefully()
    }
  }

  @Test("A page that owes a piece of a message for so long has gone, whatever polls it left; one that owes nothing stays")
  func owing() async throws {
    try await APIServer.run { server in
      for (segments, stays) in [
        ([], true), ([LongPollSegments.Segment(number: 0, total: 2, text: "AAAA")], false),
        ([LongPollSegments.Segment(number: 1, total: 1, text: "AAAA")], false),
      ] {
        let loop = NIOAsyncTestingEventLoop()
        let page = try await Self.page(of: server, sending: segments, on: loop)
        let gap = server.sockets.sessions.limits.pollGap
        await loop.advanceTime(by: gap - .milliseconds(50))
        #expect(try await Self.isOpen(page, on: loop))
        await loop.advanceTime(by: .milliseconds(100))
        #expect(try await Self.isOpen(page, on: loop) == stays, "\(segments)")
        await loop.shutdownGracefully()
      }
    }
  }
}
