import ServerTestSupport
import Testing

@testable import APISupport
@testable import HTTPServer
@testable import RealtimeAPI

/// What one client network may have at once.
struct NetworkLimitTests {
  @Test("More connections of one network than allowed are closed unanswered, and a place is free again when one ends")
  func connections() async throws {
    try await APIServer.run(configuration: .changed { $0.connectionsPerNetworkMax = 2 }) { server in
      var open: [RawConnection] = []
      for _ in 0..<2 {
        let connection = try await RawConnection.connect(to: server.port)
        try await connection.send(APIServer.text("GET", "/a.json"))
        #expect(try await connection.next()?.status == 200)
        open.append(connection)
      }
      let third = try await RawConnection.connect(to: server.port)
      #expect(try await third.next() == nil)
      try await open[0].close()
      #expect(try await becomes { try await Self.isServed(server) })
      try await open[1].close()
    }
  }

  private static func isServed(_ server: APIServer) async throws -> Bool {
    let connection = try await RawConnection.connect(to: server.port)
    connection.sendLoosely(APIServer.text("GET", "/a.json"))
    let status = try await connection.next()?.status
    try? await connection.close()
    return status == 200
  }

  @Test("Behind a proxy the sockets and streams of each client network are counted, and its ordinary requests are not")
  func proxied() async throws {
    let proxies = [AddressRange(parsing: "127.0.0.1")].compactMap(\.self)
    let configuration = HTTPServerConfiguration.changed {
      $0.connectionsPerNetworkMax = 2
      $0.trustedProxies = TrustedProxies(proxies)
    }
    try await APIServer.run(configuration: configuration) { server in
      func headers(_ address: String) -> [String: String] { ["X-Forwarded-For": address] }
      let handshake = SocketClient.handshake.merging(headers("2001:db8::1")) { $1 }
      let (socket, answer) = try await SocketClient.open(to: server.port, headers: handshake)
      #expect(answer.hasPrefix("HTTP/1.1 101"))
      let stream = headers("2001:db8::2").merging(["Accept": "text/event-stream"]) { $1 }
      let first = try await RawConnection.connect(to: server.port)
      try await first.send(APIServer.text("GET", "/a.json", headers: stream))
      #expect(try await becomes { server.metrics.streams.current == 1 })
      #expect(try await server.send("GET", "/a.json", headers: stream).status == 503)
      #expect(try await SocketClient.open(to: server.port, headers: handshake).answer.hasPrefix("HTTP/1.1 503"))
      #expect(try await server.send("GET", "/a.json", headers: headers("2001:db8::3")).status == 200)
      let elsewhere = SocketClient.handshake.merging(headers("2001:db8:0:1::1")) { $1 }
      let other = try await SocketClient.open(to: server.port, headers: elsewhere)
      #expect(other.answer.hasPrefix("HTTP/1.1 101"))
      for client in [socket, other.client] { try await client.close() }
      try await first.close()
    }
  }

  @Test("All sessions of one network together listen to no more places than they may")
  func listens() async throws {
    var limits = SocketLimits()
    limits.listensPerNetworkMax = 3
    try await APIServer.run(sockets: limits) { server in
      let (first, _) = try await SocketClient.connect(to: server.port)
      let (second, _) = try await SocketClient.connect(to: server.port)
      func listen(_ number: Int, by client: SocketClient) async throws -> Bool {
        try await client.request(#"{"r":\#(number),"a":"q","b":{"p":"/n\#(number)","h":""}}"#)
        while let answer = try await client.answer() {
          if answer.hasPrefix(#"{"r":\#(number),"#) { return answer.contains(#""s":"ok""#) }
        }
        return false
      }
      #expect(try await listen(1, by: first))
      #expect(try await listen(2, by: first))
      #expect(try await listen(3, by: second))
      #expect(try await !listen(4, by: second))
      try await second.request(#"{"r":5,"a":"n","b":{"p":"/n3"}}"#)
      #expect(try await second.answer()?.contains(#""s":"ok""#) == true)
      #expect(try await listen(6, by: second))
      try await first.close()
      #expect(try await becomes { server.metrics.sockets.open == 1 })
      #expect(try await listen(7, by: second))
      #expect(try await listen(8, by: second))
      #expect(try await !listen(9, by: second))
      try await second.close()
    }
  }
}
