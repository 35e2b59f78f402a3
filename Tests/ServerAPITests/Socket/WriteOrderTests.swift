import StorageCore
import Testing
import TreeDatabase
import TreeModel

@testable import ServerAPI

/// In which order a session's writes are answered, and that each is.
struct WriteOrderTests {
  /// The number of the request that is answered.
  private func number(_ client: SocketClient) async throws -> Int64 {
    let answer = try #require(try await client.answer(), "the server has closed")
    return try #require(try JSONParser.parse(answer)["r"]?.int, "\(answer)")
  }

  @Test("Writes are acknowledged in their order, also around the beginning and the end of a listen", .timeLimit(.minutes(1)))
  func order() async throws {
    let writer = HeldWriter()
    try await APIServer.run(participants: [writer]) { server in
      defer { writer.free() }
      let namespace = try await server.database.openNamespace(named: "game")
      let (client, _) = try await SocketClient.connect(to: server.port)
      for round in 0..<20 {
        // Both writes wait behind it, and are told together.
        writer.hold(server.database, in: namespace)
        await writer.arrival()
        let change = round.isMultiple(of: 2) ? "q" : "n"
        let requests = [
          #"{"r":1,"a":"p","b":{"p":"/a","d":\#(round)}}"#, #"{"r":2,"a":"\#(change)","b":{"p":"/x","h":""}}"#,
          #"{"r":3,"a":"p","b":{"p":"/b","d":\#(round)}}"#, #"{"r":4,"a":"s","b":{}}"#,
        ]
        try await client.write(requests.flatMap { WebSocketReaderTests.text(#"{"t":"d","d":"# + $0 + "}") })
        var answered: [Int64] = []
        // The last is answered at once: by then the others have begun.
        while !answered.contains(4) { answered.append(try await number(client)) }
        #expect(!answered.contains(1) && !answered.contains(3))
        writer.open()
        while answered.count < 4 { answered.append(try await number(client)) }
        #expect(answered.filter { $0 == 1 || $0 == 3 } == [1, 3])
      }
      try await client.close()
    }
  }

  @Test("Who waits for a turn keeps it when an earlier transaction of theirs succeeds", .timeLimit(.minutes(1)))
  func turn() async throws {
    let writer = HeldWriter()
    try await APIServer.run(limits: WriteLimits(batchMax: 1), participants: [writer]) { server in
      defer { writer.free() }
      let namespace = try await server.database.openNamespace(named: "game")
      let (player, _) = try await SocketClient.connect(to: server.port)
      let (rival, _) = try await SocketClient.connect(to: server.port)
      writer.hold(server.database, in: namespace)
      await writer.arrival()
      // In the queue: a transaction that will be refused, another stop, and one that will succeed.
      try await rival.request(#"{"r":1,"a":"p","b":{"p":"/n","d":7,"h":"wrong"}}"#)
      try await rival.request(#"{"r":2,"a":"s","b":{}}"#)
      #expect(try await number(rival) == 2)
      writer.hold(server.database, in: namespace)
      try await player.request(#"{"r":1,"a":"p","b":{"p":"/n","d":1,"h":""}}"#)
      try await player.request(#"{"r":2,"a":"s","b":{}}"#)
      #expect(try await number(player) == 2)
      writer.open()
      #expect(try await rival.answer()?.contains("datastale") == true)
      await writer.arrival()
      // The rival is first in line now, so the player's next waits.
      let begun = server.metrics.sockets.requests.current
      try await player.request(#"{"r":3,"a":"p","b":{"p":"/n","d":2,"h":"\#((1 as TreeNode).dataHash)"}}"#)
      #expect(try await becomes { server.metrics.sockets.requests.current > begun })
      writer.open()
      #expect(try await player.answer() == #"{"r":1,"b":{"s":"ok","d":""}}"#)
      try await rival.close()
      #expect(try await player.answer() == #"{"r":3,"b":{"s":"ok","d":""}}"#)
      #expect(try await server.value("/n.json") == "2")
      try await player.close()
    }
  }

  @Test("What is done in any order is answered in the order in which it began")
  func answers() {
    var order = AnswerOrder<String>()
    #expect(order.next() == nil)
    let numbers = (0..<3).map { _ in order.begin() }
    order.finish(numbers[1], "b")
    #expect(order.next() == nil)
    order.finish(numbers[0], "a")
    #expect([order.next(), order.next(), order.next()] == ["a", "b", nil])
    let last = order.begin()
    order.finish(last, "d")
    #expect(order.next() == nil)
    order.finish(numbers[2], "c")
    #expect([order.next(), order.next()] == ["c", "d"])
    #expect(order.count == 0)
  }
}
