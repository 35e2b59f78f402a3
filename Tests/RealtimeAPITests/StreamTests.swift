import NIOCore
import ServerTestSupport
import StorageCore
import Synchronization
import TestSupport
import Testing
import TreeModel

@testable import APISupport
@testable import HTTPServer
@testable import RealtimeAPI
@testable import TreeDatabase

/// Server-sent events over real sockets (Firebase's REST reference, streaming).
struct StreamTests {
  private func open(_ server: APIServer, _ path: String, headers: String = "") async throws -> EventClient {
    let client = try await EventClient.open(path, port: server.port, headers: headers)
    let head = try #require(try await client.next())
    #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(head.contains("\r\nContent-Type: text/event-stream; charset=utf-8\r\n"))
    #expect(head.contains("\r\nAccess-Control-Allow-Origin: *\r\n"))
    return client
  }

  @Test("First put /, then put for a set, patch for a PATCH, put / for a write above; text is intact")
  func events() async throws {
    try await APIServer.run { server in
      _ = try await server.send("PUT", "/a/b.json", #"{"name":"Jörg €😀\u2028"}"#)
      let client = try await open(server, "/a.json")
      #expect(try await client.event() == #"put {"path":"/","data":{"b":{"name":"Jörg €😀\#u{2028}"}}}"#)
      _ = try await server.send("PUT", "/a/c.json", #"{"x":[1,2],"y":"line\nbreak"}"#)
      #expect(try await client.event() == #"put {"path":"/c","data":{"x":[1,2],"y":"line\nbreak"}}"#)
      _ = try await server.send("PATCH", "/a/c.json", #"{"x/2":3,"y":null}"#)
      #expect(try await client.event() == #"patch {"path":"/c","data":{"x/2":3,"y":null}}"#)
      _ = try await server.send("PUT", "/other.json", "1")
      _ = try await server.send("DELETE", "/a/b.json")
      #expect(try await client.event() == #"put {"path":"/b","data":null}"#)
      _ = try await server.send("PUT", "/.json", #"{"a":7}"#)
      #expect(try await client.event() == #"put {"path":"/","data":7}"#)
      try await client.close()
    }
  }

  @Test("An absent node is put as null, also of a namespace that nobody has written to")
  func absent() async throws {
    try await APIServer.run { server in
      let client = try await open(server, "/a.json?ns=fresh")
      #expect(try await client.event() == #"put {"path":"/","data":null}"#)
      _ = try await server.send("PUT", "/a.json?ns=fresh", "1")
      #expect(try await client.event() == #"put {"path":"/","data":1}"#)
      try await client.close()
    }
  }

  @Test("A filtered stream keeps its window: who leaves is put as null, who enters whole")
  func window() async throws {
    try await APIServer.run { server in
      _ = try await server.send("PUT", "/a.json", #"{"k1":1,"k2":2,"k3":3}"#)
      let client = try await open(server, "/a.json?orderBy=%22%24key%22&limitToLast=2")
      #expect(try await client.event() == #"put {"path":"/","data":{"k2":2,"k3":3}}"#)
      _ = try await server.send("PUT", "/a/k4.json", "4")
      #expect(try await client.event() == #"patch {"path":"/","data":{"k4":4,"k2":null}}"#)
      _ = try await server.send("PUT", "/a/k1.json", "10")
      _ = try await server.send("PUT", "/a/k3.json", "30")
      #expect(try await client.event() == #"put {"path":"/k3","data":30}"#)
      try await client.close()
    }
  }

  @Test("With format=export priorities are shown")
  func export() async throws {
    try await APIServer.run { server in
      _ = try await server.send("PUT", "/a.json", #"{"b":{".value":1,".priority":2}}"#)
      let client = try await open(server, "/a.json?format=export")
      #expect(try await client.event() == #"put {"path":"/","data":{"b":{".value":1,".priority":2}}}"#)
      _ = try await server.send("PUT", "/a/b/.priority.json", "3")
      #expect(try await client.event() == #"put {"path":"/b/.priority","data":3}"#)
      try await client.close()
    }
  }

  @Test("What cannot be streamed is answered in plain JSON")
  func refusals() async throws {
    try await APIServer.run(access: AccessPolicy(mode: .production, adminTokens: [])) { server in
      let denied = try await server.send("GET", "/a.json", headers: ["Accept": "text/event-stream"])
      #expect(denied.status == 401)
      #expect(denied.body == #"{"error":"Permission denied"}"#)
    }
    try await APIServer.run { server in
      for query in ["?shallow=true", "?callback=f", "?limitToFirst=2", "?orderBy=%22height%22"] {
        let refused = try await server.send("GET", "/a.json\(query)", headers: ["Accept": "text/event-stream"])
        #expect(refused.status == 400)
        #expect(refused["content-type"] == "application/json; charset=utf-8")
      }
      #expect(try await server.send("GET", "/a/.priority.json", headers: ["Accept": "text/event-stream"]).status == 400)
      #expect(try await server.send("HEAD", "/a.json", headers: ["Accept": "text/event-stream"]).status == 200)
    }
  }

  @Test(
    "A write that begins when the head was seen is an event of its own, never inside the first put", .timeLimit(.minutes(5)))
  func head() async throws {
    let reads = HeldReads()
    try await APIServer.run(reads: reads, streamLimits: StreamLimits(keepAliveInterval: .milliseconds(5))) { server in
      defer { reads.free() }
      _ = try await server.send("PUT", "/a.json", #"{"b":1}"#)
      reads.hold()
      let held = try await EventClient.open("/a.json", port: server.port)
      await reads.arrival()
      // A stream that comes later is served, and keep-alives are sent there: the held one has got nothing all the while.
      let other = try await open(server, "/a/b.json")
      for _ in 0..<3 { _ = try await other.anyEvent() }
      #expect(try await held.bytesRead() == 0)
      reads.open()
      let head = try #require(try await held.next())
      #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
      _ = try await server.send("PUT", "/a/c.json", "2")
      #expect(try await held.event() == #"put {"path":"/","data":{"b":1}}"#)
      #expect(try await held.event() == #"put {"path":"/c","data":2}"#)
      try await held.close()
      try await other.close()
    }
  }

  @Test("A stream that may not begin any more is refused with the status that fits", .timeLimit(.minutes(5)))
  func refusedLate() async throws {
    let reads = HeldReads()
    try await APIServer.run(reads: reads) { server in
      defer { reads.free() }
      let rules = #"{"rules":{".write":true,"a":{".read":"!root.child('closed').exists()"}}}"#
      #expect(try await server.send("PUT", "/.settings/rules.json", rules, headers: APIServer.admin).status == 200)
      reads.hold()
      async let refused = server.send("GET", "/a.json", headers: ["Accept": "text/event-stream"])
      await reads.arrival()
      #expect(try await server.send("PUT", "/closed.json", "1").status == 200)
      let response = try await refused
      #expect(response.status == 401)
      #expect(response.body == #"{"error":"Permission denied"}"#)
      #expect(response["connection"] == "close")
      #expect(
        server.metrics.total("doubloon_http_requests_total", dimensions: [("route", "tree_read"), ("status", "4xx")]) == 1)
      #expect(try await becomes { server.metrics.streams.current == 0 && server.listeners.watch.count == 0 })
    }
  }

  @Test("A stream that nothing happens on says that it is alive")
  func keepAlive() async throws {
    try await APIServer.run(streamLimits: StreamLimits(keepAliveInterval: .milliseconds(20))) { server in
      let client = try await open(server, "/a.json")
      _ = try await client.event()
      for _ in 0..<2 { #expect(try await client.anyEvent() == "keep-alive null") }
      try await client.close()
    }
  }

  @Test("When rules take the right away the stream says cancel and closes; a credential that ends says so")
  func revocation() async throws {
    let access = ChangingAccess()
    try await APIServer.run(access: access, streamLimits: StreamLimits(keepAliveInterval: .milliseconds(20))) { server in
      let client = try await open(server, "/a.json")
      #expect(try await client.event() == #"put {"path":"/","data":null}"#)
      access.isOpen.withLock { $0 = false }
      server.listeners.review()
      #expect(try await Self.last(client) == "cancel null")
      access.isOpen.withLock { $0 = true }

      let expiring = try await open(server, "/a.json", headers: "Authorization: Bearer soon\r\n")
      #expect(try await expiring.event() == #"put {"path":"/","data":null}"#)
      server.clock.advance(by: 1001)
      #expect(try await Self.last(expiring) == "auth_revoked credential is no longer valid")
    }
  }

  /// The last event before the server closes, keep-alives aside.
  private static func last(_ client: EventClient) async throws -> String? {
    var last: String?
    while let event = try await client.event() { last = event }
    return last
  }

  @Test("There are only so many streams; one that closes makes room, and the metrics tell")
  func limit() async throws {
    try await APIServer.run(streamLimits: StreamLimits(streamsMax: 2)) { server in
      let clients = [try await open(server, "/a.json"), try await open(server, "/b.json")]
      for client in clients { _ = try await client.event() }
      let refused = try await server.send("GET", "/c.json", headers: ["Accept": "text/event-stream"])
      #expect(refused.status == 503)
      let metrics = try await server.value("/metrics")
      #expect(metrics.contains("\ndoubloon_streams 2\n"))
      #expect(metrics.contains("\ndoubloon_listens 2\n"))
      try await clients[0].close()
      // The server hears of it on another connection's time: ask until it has.
      var answer = refused
      for _ in 0..<1000 where answer.status == 503 {
        let client = try await EventClient.open("/c.json", port: server.port)
        let head = try await client.next() ?? ""
        if head.hasPrefix("HTTP/1.1 200") {
          answer = RawResponse(status: 200, headers: [], body: "")
          #expect(try await client.event() == #"put {"path":"/","data":null}"#)
        }
        try? await client.close()
      }
      #expect(answer.status == 200)
      try await clients[1].close()
    }
  }

  @Test("A stream whose client has gone leaves nothing that watches for it")
  func gone() async throws {
    try await APIServer.run { server in
      let rules = #"{"rules":{"a":{".read":"!root.child('closed').exists()"}}}"#
      #expect(try await server.send("PUT", "/.settings/rules.json", rules, headers: APIServer.admin).status == 200)
      let clients = [try await open(server, "/a.json"), try await open(server, "/a.json")]
      for client in clients { #expect(try await client.event() == #"put {"path":"/","data":null}"#) }
      #expect(server.listeners.watch.count == 2)
      for client in clients { try await client.close() }
      #expect(try await becomes { server.listeners.watch.count == 0 })
    }
  }

  @Test("A client counts as stalled when nothing has left for so long, however much still waits")
  func stall() {
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    var stall = StreamStall(at: start, left: 100)
    // It reads a little each time.
    for step in 1...10 {
      #expect(stall.isOver(after: .seconds(60), at: start + .seconds(Int64(step) * 50), left: 100 + step) == false)
    }
    #expect(stall.isOver(after: .seconds(60), at: start + .seconds(559), left: 110) == false)
    #expect(stall.isOver(after: .seconds(60), at: start + .seconds(560), left: 110) == true)
  }

  @Test("A client that stops reading is closed after a while, and holds up nobody", .timeLimit(.minutes(5)))
  func slow() async throws {
    // The quick client, too, may be late for so long.
    let limits = StreamLimits(keepAliveInterval: .milliseconds(20), stallTimeout: .seconds(3))
    try await APIServer.run(streamLimits: limits) { server in
      let slow = try await EventClient.open("/a.json", port: server.port, reads: false)
      let quick = try await open(server, "/a.json")
      _ = try await quick.event()
      let text = "\"\(String(repeating: "x", count: 200_000))\""
      // More than two sockets' buffers hold.
      for number in 0..<32 {
        _ = try await server.send("PUT", "/a/k\(number % 4).json?print=silent", "{\"\(number)\":\(text)}")
      }
      var puts = 0
      while puts < 32, let event = try await quick.event() {
        if event.hasPrefix("put ") { puts += 1 }
      }
      #expect(puts == 32)
      while server.metrics.streams.current > 1 { _ = try await quick.anyEvent() }
      #expect(server.listeners.counts.listens <= 2)
      try await quick.close()
      try? await slow.close()
    }
  }

  @Test("A server that stops ends its streams at once")
  func shutdown() async throws {
    try await APIServer.run { server in
      let client = try await open(server, "/a.json")
      #expect(try await client.event() != nil)
      server.stop()
      #expect(try await client.event() == nil)
    }
  }
}

/// Development's policy, until it is changed; the token `soon` ends a second after the start.
private final class ChangingAccess: AccessDeciding, Authenticating {
  let isOpen = Mutex(true)
  var createsNamespaces: Bool { true }
  var isDevelopment: Bool { true }

  func caller(_ credentials: RequestCredentials) throws(AccessError) -> Caller {
    guard credentials.accessToken == "soon" else { return .anonymous }
    return Caller(actor: .user(uid: "bob"), isAdmin: false, validUntil: APIServer.start + 1000)
  }

  func decideRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> ReadDecision {
    ReadDecision(isAllowed: isOpen.withLock { $0 })
  }
  func explainRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> String? { nil }
  func judgesWrites(in namespace: String, of caller: Caller) -> Bool { false }
  func mayWrite(_ path: Path, in namespace: String, as caller: Caller) -> Bool { true }
}
