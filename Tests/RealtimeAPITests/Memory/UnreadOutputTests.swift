import NIOCore
import NIOPosix
import ServerTestSupport
import Testing

@testable import APISupport
@testable import HTTPServer

/// Clients that ask and do not read.
struct UnreadOutputTests {
  /// A client that sends, and reads nothing.
  private static func mute(_ server: APIServer, _ text: String) async throws -> any Channel {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.autoRead, value: false)
      .channelOption(.socketOption(.so_rcvbuf), value: 4096)
      .connect(host: "127.0.0.1", port: server.port).get()
    try await channel.writeAndFlush(ByteBuffer(string: text))
    return channel
  }

  @Test("Answers and streams that nobody reads hold no more than the budget; administrators' do not count")
  func answers() async throws {
    let memory = MemoryBudgets(outputBytesMax: 20 << 20)
    try await APIServer.run(memory: memory) { server in
      let text = String(repeating: "x", count: 9 << 20)
      #expect(try await server.send("PUT", "/big.json?print=silent", "\"\(text)\"").status == 204)
      var clients: [any Channel] = []
      for number in 0..<8 {
        let accept = number % 2 == 0 ? [:] : ["Accept": "text/event-stream"]
        clients.append(try await Self.mute(server, APIServer.text("GET", "/big.json", headers: accept)))
      }
      // Of each answer the sockets' own buffers take some megabytes.
      #expect(try await becomes { 4 << 20...20 << 20 ~= memory.output.used })
      let admin = try await Self.mute(server, APIServer.text("GET", "/big.json", headers: APIServer.admin))
      let read = try await server.send("GET", "/big.json", headers: APIServer.admin)
      #expect(read.body.utf8.count == text.utf8.count + 2)
      #expect(try await becomes { memory.output.used <= 20 << 20 })
      for client in clients + [admin] { try? await client.close() }
      #expect(try await becomes { memory.output.used == 0 })
    }
  }

  @Test("Realtime clients that do not read what they asked for are cut off when there are too many")
  func sockets() async throws {
    let memory = MemoryBudgets(outputBytesMax: 20 << 20)
    try await APIServer.run(memory: memory) { server in
      let text = String(repeating: "x", count: 9 << 20)
      #expect(try await server.send("PUT", "/big.json?print=silent", "\"\(text)\"").status == 204)
      // The first answer may fit into the sockets' own buffers.
      let get = (1...3).flatMap { ClientFrameTests.text(#"{"t":"d","d":{"r":\#($0),"a":"g","b":{"p":"/big"}}}"#) }
      var clients: [SocketClient] = []
      for _ in 0..<6 { clients.append(try await SocketClient.open(to: server.port, behind: get, stopsReading: true).client) }
      #expect(try await becomes { server.metrics.sockets.open < 6 && memory.output.used <= 20 << 20 })
      for client in clients { try await client.close() }
      #expect(try await becomes { memory.output.used == 0 && server.metrics.sockets.open == 0 })
    }
  }

  /// Runs `body` while one client holds nearly all of the budget: who gets `/bigger` is cut off by the first push.
  private static func besideMuteClient(_ body: (APIServer) async throws -> Void) async throws {
    let memory = MemoryBudgets(outputBytesMax: 10 << 20)
    try await APIServer.run(memory: memory) { server in
      for (name, size) in [("big", 8 << 20), ("bigger", 9 << 20)] {
        let text = String(repeating: "x", count: size)
        #expect(try await server.send("PUT", "/\(name).json?print=silent", "\"\(text)\"").status == 204)
      }
      let first = try await mute(server, APIServer.text("GET", "/big.json"))
      #expect(try await becomes { memory.output.used > 6 << 20 })
      try await body(server)
      #expect(try await becomes { server.metrics.sockets.open == 0 })
      #expect(try await server.send("GET", "/none.json").body == "null")
      try? await first.close()
      #expect(try await becomes { memory.output.used == 0 })
    }
  }

  @Test("A socket whose first data are too much for the server's memory is cut off alone; the server goes on")
  func firstSnapshot() async throws {
    try await Self.besideMuteClient { server in
      let listen = ClientFrameTests.text(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/bigger","h":""}}}"#)
      let (client, answer) = try await SocketClient.open(to: server.port, behind: listen, stopsReading: true)
      #expect(answer.hasPrefix("HTTP/1.1 101"))
      #expect(try await becomes { server.metrics.total("doubloon_socket_requests_total") == 1 })
      #expect(try await becomes { server.metrics.sockets.open == 0 })
      try await client.close()
    }
  }

  @Test("So is a page that polls")
  func firstSnapshotOfPage() async throws {
    try await Self.besideMuteClient { server in
      let page = try await LongPollTests.Page.open(server)
      let listen = LongPollTests.Page.query([#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/bigger","h":""}}}"#])
      #expect(try await page.get(listen) == "pLPCommand('close');\n")
    }
  }
}
