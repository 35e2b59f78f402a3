import NIOCore
import ServerTestSupport
import Testing

@testable import APISupport
@testable import HTTPServer

/// Input that never ends, from many connections: it stays within the budget, and goes without a trace.
struct UnfinishedInputTests {
  private static let part = String(repeating: "x", count: 256 << 10)

  private static func start(_ path: String, _ server: APIServer, headers: String = "") async throws -> RawConnection {
    let connection = try await RawConnection.connect(to: server.port)
    connection.sendLoosely("PUT \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)Content-Length: 1000000\r\n\r\n\"\(part)")
    return connection
  }

  @Test("Bodies that do not end hold no more than the budget; strangers are refused first, and all is given back")
  func bodies() async throws {
    let memory = MemoryBudgets(inputBytesMax: 1 << 20)
    try await APIServer.run(memory: memory) { server in
      var strangers: [RawConnection] = []
      for number in 0..<8 { strangers.append(try await Self.start("/s\(number).json", server)) }
      #expect(try await becomes { memory.input.refusals.current >= 4 && memory.input.used <= 1 << 20 })
      let user = try await Self.start("/u.json?auth=\(AccessTests.token)", server)
      let admin = try await Self.start("/a.json", server, headers: "Authorization: Bearer owner\r\n")
      let rest = String(repeating: "x", count: 1_000_000 - 2 - Self.part.utf8.count) + "\""
      try await user.send(rest)
      try await admin.send(rest)
      #expect(try await user.next()?.status == 200)
      #expect(try await admin.next()?.status == 200)
      #expect(try await becomes { memory.input.used <= 1 << 20 })
      var refused = 0
      for stranger in strangers {
        try? await stranger.finishSending()
        guard let answer = try await stranger.next() else { continue }
        #expect(answer.status == 503 && answer["retry-after"] == "5" && answer["connection"] == "close")
        refused += 1
      }
      #expect(refused >= 4)
      for connection in [user, admin] { try await connection.close() }
      #expect(try await becomes { memory.input.used == 0 })
      #expect(try await server.send("PUT", "/after.json", "1").status == 200)
    }
  }

  @Test("Heads that do not end count as bodies do, and their clients are told to come again")
  func heads() async throws {
    let memory = MemoryBudgets(inputBytesMax: 8 * ByteShare.step)
    try await APIServer.run(memory: memory) { server in
      let lines = (0..<200).map { "x-\($0): \(String(repeating: "y", count: 100))\r\n" }.joined()
      var strangers: [RawConnection] = []
      for _ in 0..<16 {
        let connection = try await RawConnection.connect(to: server.port)
        connection.sendLoosely("GET /a.json HTTP/1.1\r\nHost: localhost\r\n\(lines)")
        strangers.append(connection)
      }
      let expected = 1...8 * ByteShare.step
      #expect(try await becomes { memory.input.refusals.current >= 4 && expected.contains(memory.input.used) })
      var (refused, answered) = (0, 0)
      for stranger in strangers {
        stranger.sendLoosely("\r\n")
        guard let answer = try await stranger.next() else { continue }
        #expect(answer.status == 503 && answer["retry-after"] == "5" || answer.status == 200)
        if answer.status == 503 { refused += 1 } else { answered += 1 }
        try? await stranger.close()
      }
      #expect(refused >= 4 && answered >= 1)
      #expect(try await becomes { memory.input.used == 0 })
    }
  }

  @Test("What is sent ahead of an answer counts until it is its turn")
  func ahead() async throws {
    let memory = MemoryBudgets(inputBytesMax: 1 << 20)
    try await APIServer.run(memory: memory) { server in
      let page = try await LongPollTests.Page.open(server)
      let connection = try await RawConnection.connect(to: server.port)
      let poll = APIServer.text("GET", "/.lp?id=\(page.id)&pw=\(page.password)&ns=game")
      // Its answer waits for a message.
      try await connection.send(poll + APIServer.text("PUT", "/a.json", "\"\(Self.part)\""))
      #expect(try await becomes { memory.input.used >= ByteShare.step })
      // Another poll lets the first one go.
      let other = try await RawConnection.connect(to: server.port)
      try await other.send(poll)
      #expect(try await connection.next()?.status == 200)
      #expect(try await connection.next()?.status == 200)
      #expect(try await becomes { memory.input.used == 0 })
      for client in [connection, other] { try await client.close() }
    }
  }

  @Test("Frames that are not whole, fragments and pieces hold no more than the budget; who is cut off is told to come again")
  func frames() async throws {
    let memory = MemoryBudgets(inputBytesMax: 1 << 20)
    try await APIServer.run(memory: memory) { server in
      let whole = ClientFrameTests.frame(0x01, Array(Self.part.utf8))
      let piece = ClientFrameTests.text("9") + ClientFrameTests.text(Self.part)
      var clients: [SocketClient] = []
      for number in 0..<9 {
        let (client, _) = try await SocketClient.connect(to: server.port)
        switch number % 3 {
        case 0: client.sendLoosely(ClientFrameTests.frame(0x81, Array((Self.part + Self.part).utf8)).dropLast(1000))
        case 1: client.sendLoosely(whole)
        default: client.sendLoosely(piece)
        }
        clients.append(client)
      }
      let expected = 512 << 10...1 << 20
      #expect(try await becomes { server.metrics.sockets.open < 9 && expected.contains(memory.input.used) })
      let isTold = try await becomes {
        for client in clients {
          let close = try await client.controlFrames().first { $0.opcode == 8 }
          if let close { return close.payload.starts(with: [0x03, 0xF5]) }
        }
        return false
      }
      #expect(isTold)
      for client in clients { try await client.close() }
      #expect(try await becomes { memory.input.used == 0 && server.metrics.sockets.open == 0 })
    }
  }

  @Test("Long polling's segments that wait for others hold no more than the budget")
  func segments() async throws {
    let memory = MemoryBudgets(inputBytesMax: 128 << 10)
    try await APIServer.run(memory: memory) { server in
      let text = String(repeating: "A", count: 24 << 10)
      var pages: [LongPollTests.Page] = []
      for _ in 0..<6 {
        let page = try await LongPollTests.Page.open(server)
        pages.append(page)
        for number in 1...2 {
          let connection = try await RawConnection.connect(to: server.port)
          connection.sendLoosely(
            APIServer.text(
              "GET", "/.lp?id=\(page.id)&pw=\(page.password)&ns=game&seg0=\(number)&ts0=9&d0=\(text)"))
        }
      }
      #expect(try await becomes { server.metrics.sockets.open < 6 && memory.input.used <= 128 << 10 })
      for page in pages { _ = try await page.get("&disconn=t") }
      #expect(try await becomes { server.metrics.sockets.open == 0 && memory.input.used == 0 })
    }
  }

  @Test("What a client registers for its end counts for as long as it is there")
  func registered() async throws {
    let memory = MemoryBudgets(inputBytesMax: 4 << 20)
    try await APIServer.run(memory: memory) { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      let text = String(repeating: "x", count: 200_000)
      try await client.request(#"{"r":1,"a":"o","b":{"p":"/o","d":"\#(text)"}}"#)
      #expect(try await client.answer() == #"{"r":1,"b":{"s":"ok","d":""}}"#)
      #expect(memory.input.used >= 180_000)
      try await client.close()
      #expect(try await becomes { memory.input.used == 0 })
    }
  }
}
