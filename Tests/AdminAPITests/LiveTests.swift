import ServerTestSupport
import Testing
import TreeDatabase
import TreeModel

/// The stream that the console's pages listen to.
struct LiveTests {
  private static func open(_ server: APIServer, _ headers: String = "Authorization: Bearer owner\r\n") async throws
    -> EventClient
  {
    try await EventClient.open("/admin/v1/live?ns=game", port: server.port, headers: headers)
  }

  @Test("A page is told where the log stands, of each new commit, and of figures", .timeLimit(.minutes(5)))
  func told() async throws {
    try await APIServer.run { server in
      #expect(try await server.send("PUT", "/a.json", "1").status == 200)
      let stream = try await Self.open(server)
      #expect(try await stream.next()?.contains("text/event-stream") == true)
      let hello = try #require(try await stream.event())
      #expect(hello.hasPrefix(#"hello {"revision":1,"#), "\(hello)")
      #expect(try await server.send("PUT", "/a.json", "2").status == 200)
      var events: [String] = []
      func isTold() -> Bool {
        events.contains { $0.hasPrefix("stats ") && $0.contains(#""commits":2"#) && $0.contains(#""revision":2"#) }
      }
      while !isTold() { events.append(try #require(try await stream.event())) }
      // A commit is told once: by itself, or with figures that came just then.
      let figures = try #require(events.firstIndex { $0.hasPrefix("stats ") && $0.contains(#""revision":2"#) })
      #expect(events.filter { $0 == #"revision {"revision":2}"# }.count <= 1)
      #expect(!events[figures...].contains { $0.hasPrefix("revision ") })
      try await stream.close()
    }
  }

  /// The next event that is none of the figures, with its id.
  private static func told(_ stream: EventClient) async throws -> String? {
    while let event = try await stream.next() {
      if !event.hasPrefix("event: stats"), !event.hasPrefix("event: keep-alive") { return event }
    }
    return nil
  }

  @Test("A client is told of the topics that it names, and of the gap when it comes back", .timeLimit(.minutes(5)))
  func topics() async throws {
    try await APIServer.run { server in
      #expect(try await server.send("PUT", "/t/a.json", "1").status == 200)
      let query = "/admin/v1/live?ns=game&topics=touched,events,entries,replay&path=/t"
      let stream = try await EventClient.open(query, port: server.port, headers: "Authorization: Bearer owner\r\n")
      #expect(try await stream.next()?.contains("text/event-stream") == true)
      let hello = try #require(try await Self.told(stream))
      #expect(hello.hasPrefix("event: hello") && hello.contains("\nid: 1"), "\(hello)")
      #expect(try await server.send("PUT", "/t/b.json", "2").status == 200)
      let touched = try #require(try await Self.told(stream))
      #expect(touched.contains(#"{"from":2,"to":2,"commits":1,"keys":["b"],"more":false}"#), "\(touched)")
      #expect(touched.contains("\nid: 2"), "\(touched)")
      try await stream.close()
      let headers = "Authorization: Bearer owner\r\nLast-Event-ID: 1\r\n"
      let again = try await EventClient.open(query, port: server.port, headers: headers)
      #expect(try await again.next()?.contains("text/event-stream") == true)
      #expect(try await Self.told(again)?.hasPrefix("event: hello") == true)
      let gap = try #require(try await Self.told(again))
      #expect(gap.hasPrefix("event: gap") && gap.contains(#"{"from":1,"to":2}"#), "\(gap)")
      try await again.close()
      let wrong = try await EventClient.open(
        "/admin/v1/live?ns=game&topics=nothing", port: server.port, headers: "Authorization: Bearer owner\r\n")
      #expect(try await wrong.next()?.contains("400") == true)
    }
  }

  @Test("Who may not look is told nothing, and there are only so many streams", .timeLimit(.minutes(5)))
  func refused() async throws {
    try await APIServer.run { server in
      _ = try await server.database.openNamespace(named: "game")
      let nobody = try await Self.open(server, "")
      #expect(try await nobody.next()?.contains("401") == true)
      var streams: [EventClient] = []
      for _ in 0..<8 {
        streams.append(try await Self.open(server))
        #expect(try await streams.last?.next()?.contains("200 OK") == true)
      }
      #expect(try await Self.open(server).next()?.contains("503") == true)
      try await streams[0].close()
      #expect(try await becomes { try await Self.open(server).next()?.contains("200 OK") == true })
      for stream in streams.dropFirst() { try? await stream.close() }
    }
  }

  @Test("A stream ends with the namespace that it is about", .timeLimit(.minutes(5)))
  func ends() async throws {
    try await APIServer.run { server in
      #expect(try await server.send("PUT", "/a.json", "1").status == 200)
      let stream = try await Self.open(server)
      #expect(try await stream.next() != nil)
      #expect(try await server.send("DELETE", "/admin/v1/namespaces/game", headers: APIServer.admin).status == 200)
      var last = ""
      while let event = try await stream.event() { last = event }
      #expect(last.hasPrefix("bye "), "\(last)")
    }
  }
}
