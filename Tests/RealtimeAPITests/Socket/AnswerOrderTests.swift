import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import APISupport
@testable import HTTPServer
@testable import RealtimeAPI

/// In which order a session's requests are answered, and that each is (firebase-js-sdk, `PersistentConnection.ts`).
struct AnswerOrderTests {
  /// Sends requests in one piece, as a client does that waits for no answer.
  private func send(_ requests: [String], over client: SocketClient) async throws {
    try await client.write(requests.flatMap { ClientFrameTests.text(#"{"t":"d","d":"# + $0 + "}") })
  }

  /// What comes up to the answer of a request: numbers of answered requests, and `"push PATH"` in between.
  private func answers(_ client: SocketClient, through last: Int64) async throws -> [String] {
    var all: [String] = []
    while all.last != "\(last)" {
      let answer = try #require(try await client.answer(), "the server has closed after \(all)")
      let json = try JSONParser.parse(answer)
      all.append(json["r"]?.int.map { "\($0)" } ?? "push \(json["b"]?["p"]?.string ?? answer)")
    }
    return all
  }

  @Test("Every request is answered in its turn, also behind a write that is not durable yet", .timeLimit(.minutes(5)))
  func order() async throws {
    let writer = HeldWriter()
    try await APIServer.run(participants: [writer]) { server in
      defer { writer.free() }
      let namespace = try await server.database.openNamespace(named: "game")
      let (client, _) = try await SocketClient.connect(to: server.port)
      for round in 0..<20 {
        // The first write waits behind it.
        writer.hold(server.database, in: namespace)
        await writer.arrival()
        let begun = server.metrics.total("doubloon_socket_requests_total")
        let change = round.isMultiple(of: 2) ? "q" : "n"
        try await send(
          [
            #"{"r":1,"a":"p","b":{"p":"/a","d":\#(round)}}"#, #"{"r":2,"a":"s","b":{}}"#,
            #"{"r":3,"a":"oc","b":{"p":"/gone"}}"#, #"{"r":4,"a":"p","b":{"p":5}}"#,
            #"{"r":5,"a":"\#(change)","b":{"p":"/x","h":""}}"#, #"{"r":6,"a":"p","b":{"p":"/b","d":\#(round)}}"#,
            #"{"r":7,"a":"g","b":{"p":"/b","q":{}}}"#, #"{"r":8,"a":"s","b":{}}"#,
          ], over: client)
        // What needs no writer is done by then, though not answered.
        #expect(try await becomes { server.metrics.total("doubloon_socket_requests_total") >= begun + 4 })
        writer.open()
        let answered = try await answers(client, through: 8).filter { !$0.hasPrefix("push") }
        #expect(answered == (1...8).map { "\($0)" })
      }
      try await client.close()
    }
  }

  @Test(
    "A slow query shows its data and is answered before what was asked behind it, and holds up nobody else",
    .timeLimit(.minutes(5)))
  func listens() async throws {
    let reads = HeldReads()
    try await APIServer.run(reads: reads) { server in
      defer { reads.free() }
      let rules = #"{"rules":{".read":true,".write":true,"players":{".indexOn":"score"}}}"#
      #expect(try await server.send("PUT", "/.settings/rules.json", rules, headers: APIServer.admin).status == 200)
      #expect(try await server.send("PUT", "/players.json", #"{"a":{"score":2},"b":{"score":1}}"#).status == 200)
      let (client, _) = try await SocketClient.connect(to: server.port)
      let (other, _) = try await SocketClient.connect(to: server.port)
      try await send([#"{"r":1,"a":"q","b":{"p":"/news","h":""}}"#], over: client)
      #expect(try await answers(client, through: 1) == ["1"])
      reads.hold()
      try await send(
        [
          #"{"r":2,"a":"q","b":{"p":"/players","q":{"i":"score","l":1,"vf":"r"},"t":1,"h":""}}"#,
          #"{"r":3,"a":"q","b":{"p":"/players/b","h":""}}"#, #"{"r":4,"a":"p","b":{"p":"/news","d":"new"}}"#,
          #"{"r":5,"a":"s","b":{}}"#,
        ], over: client)
      await reads.arrival()
      // A client that comes later is served: by then the second listen is read, and the write is durable.
      #expect(try await becomes { try await server.value("/news.json") == #""new""# })
      try await send([#"{"r":1,"a":"q","b":{"p":"/players","h":""}}"#], over: other)
      #expect(try await answers(other, through: 1) == ["push players", "1"])
      reads.open()
      let lines = [
        #"{"a":"d","b":{"p":"players","d":{"a":{"score":2}},"t":1}}"#, #"{"r":2,"b":{"s":"ok","d":{}}}"#,
        #"{"a":"d","b":{"p":"players/b","d":{"score":1}}}"#, #"{"r":3,"b":{"s":"ok","d":{}}}"#,
        #"{"a":"d","b":{"p":"news","d":"new"}}"#, #"{"r":4,"b":{"s":"ok","d":""}}"#, #"{"r":5,"b":{"s":"ok","d":""}}"#,
      ]
      for line in lines { #expect(try await client.answer() == line) }
      for client in [client, other] { try await client.close() }
    }
  }

  @Test("Many queries that race are answered in their order")
  func race() async throws {
    try await APIServer.run { server in
      let rules = #"{"rules":{".read":true,".write":true,"players":{".indexOn":"score"}}}"#
      #expect(try await server.send("PUT", "/.settings/rules.json", rules, headers: APIServer.admin).status == 200)
      let players = (0..<1000).map { #""p\#($0)":{"score":\#($0 * 7919 % 1000),"level":\#($0 % 50)}"# }
      #expect(try await server.send("PUT", "/players.json", "{\(players.joined(separator: ","))}").status == 200)
      for round in 1...20 {
        let (client, _) = try await SocketClient.connect(to: server.port)
        try await send(
          [
            #"{"r":1,"a":"q","b":{"p":"/players","q":{"i":"level","l":3,"vf":"r"},"t":1,"h":""}}"#,
            #"{"r":2,"a":"q","b":{"p":"/players","q":{"i":"score","l":3,"vf":"r"},"t":2,"h":""}}"#,
            #"{"r":3,"a":"q","b":{"p":"/news","h":"-"}}"#, #"{"r":4,"a":"p","b":{"p":"/news","d":\#(round)}}"#,
          ], over: client)
        var seen = try await answers(client, through: 4)
        // The write may be in the listen's first data.
        if seen.suffix(2) == ["push news", "4"] { seen.remove(at: seen.count - 2) }
        #expect(seen == ["push players", "1", "push players", "2", "push news", "3", "4"])
        try await client.close()
      }
    }
  }

  @Test("What waits behind a listen goes on when rules take the listen back before its data are there", .timeLimit(.minutes(5)))
  func revoked() async throws {
    let reads = HeldReads()
    try await APIServer.run(reads: reads) { server in
      defer { reads.free() }
      let rules = #"{"rules":{".write":true,"a":{".read":"!root.child('closed').exists()"}}}"#
      #expect(try await server.send("PUT", "/.settings/rules.json", rules, headers: APIServer.admin).status == 200)
      let (client, _) = try await SocketClient.connect(to: server.port)
      reads.hold()
      try await send([#"{"r":1,"a":"q","b":{"p":"/a","h":""}}"#, #"{"r":2,"a":"s","b":{}}"#], over: client)
      await reads.arrival()
      #expect(try await server.send("PUT", "/closed.json", "1").status == 200)
      #expect(try await client.answer() == #"{"r":1,"b":{"s":"permission_denied","d":"Permission denied"}}"#)
      #expect(try await client.answer() == #"{"r":2,"b":{"s":"ok","d":""}}"#)
      reads.open()
      try await client.close()
    }
  }

  @Test("Who waits for a turn keeps it when an earlier transaction of theirs succeeds", .timeLimit(.minutes(5)))
  func turn() async throws {
    let writer = HeldWriter()
    try await APIServer.run(limits: WriteLimits(batchMax: 1), participants: [writer]) { server in
      defer { writer.free() }
      let requests = { server.metrics.total("doubloon_socket_requests_total") }
      let namespace = try await server.database.openNamespace(named: "game")
      let (player, _) = try await SocketClient.connect(to: server.port)
      let (rival, _) = try await SocketClient.connect(to: server.port)
      writer.hold(server.database, in: namespace)
      await writer.arrival()
      // In the queue: a transaction that will be refused, another stop, and one that will succeed.
      try await send([#"{"r":1,"a":"p","b":{"p":"/n","d":7,"h":"wrong"}}"#, #"{"r":2,"a":"s","b":{}}"#], over: rival)
      #expect(try await becomes { requests() == 2 })
      writer.hold(server.database, in: namespace)
      try await send([#"{"r":1,"a":"p","b":{"p":"/n","d":1,"h":""}}"#, #"{"r":2,"a":"s","b":{}}"#], over: player)
      #expect(try await becomes { requests() == 4 })
      writer.open()
      #expect(try await rival.answer()?.contains("datastale") == true)
      await writer.arrival()
      // The rival is first in line now, so the player's next waits.
      try await player.request(#"{"r":3,"a":"p","b":{"p":"/n","d":2,"h":"\#((1 as TreeNode).dataHash)"}}"#)
      #expect(try await becomes { requests() == 5 })
      writer.open()
      #expect(try await answers(player, through: 2) == ["1", "2"])
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
    order.append("d")
    let last = order.begin()
    order.finish(last, "e")
    #expect(order.next() == nil)
    order.finish(numbers[2], "c")
    #expect([order.next(), order.next(), order.next()] == ["c", "d", "e"])
    #expect(order.count == 0)
  }
}
