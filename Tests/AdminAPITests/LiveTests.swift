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
