import APISupport
import HTTPServer
import ServerTestSupport
import Testing
import TreeModel

@testable import RealtimeAPI

/// Requests of one client that would cost everybody else much: by what they make the server do, or keep.
struct CostlyRequestTests {
  /// A JSON object of as many members as there are numbers.
  private static func object(_ numbers: some Sequence<Int>, _ member: (Int) -> String) -> String {
    "{" + numbers.map(member).joined(separator: ",") + "}"
  }

  @Test("A commit that renews thousands of nodes with priorities is told at once, each node whole", .timeLimit(.minutes(5)))
  func renewedNodes() async throws {
    try await APIServer.run { server in
      let nodes = 0..<2500
      let first = Self.object(nodes) { #""n\#($0)":{"c":1,".priority":1}"# }
      #expect(try await server.send("PUT", "/all.json?print=silent", first).status == 204)
      let stream = try await EventClient.open("/all.json", port: server.port)
      #expect(try await stream.next()?.contains("200 OK") == true)
      #expect(try await stream.event()?.hasPrefix("put ") == true)
      let change = Self.object(nodes) { #""n\#($0)/a":1,"n\#($0)/b":1,"n\#($0)/c":null"# }
      #expect(try await server.send("PATCH", "/all.json?print=silent", change).status == 204)
      let event = try #require(try await stream.event())
      let told = try JSONParser.parse(String(event.drop { $0 != "{" }))
      let data = try #require(told["data"]?.object)
      #expect(data.count == nodes.count)
      #expect(data.allSatisfy { $0.value["a"]?.int == 1 && $0.value["b"]?.int == 1 && $0.value["c"] == nil })
      try await stream.close()
    }
  }

  @Test("A commit of many changes to a long window is told as the window that it leaves", .timeLimit(.minutes(5)))
  func longWindow() async throws {
    try await APIServer.run { server in
      let first = Self.object(0..<5000) { #""n\#($0)":\#($0)"# }
      #expect(try await server.send("PUT", "/all.json?print=silent", first).status == 204)
      let stream = try await EventClient.open("/all.json?orderBy=%22%24key%22&limitToFirst=6000", port: server.port)
      #expect(try await stream.next()?.contains("200 OK") == true)
      #expect(try await stream.event()?.hasPrefix("put ") == true)
      let change = Self.object(0..<1500) { #""n\#($0)":-1"# }
      #expect(try await server.send("PATCH", "/all.json?print=silent", change).status == 204)
      let event = try #require(try await stream.event())
      let told = try JSONParser.parse(String(event.drop { $0 != "{" }))
      let data = try #require(told["data"]?.object)
      #expect(data.count == 5000)
      #expect(data.count { $0.value.int == -1 } == 1500)
      try await stream.close()
    }
  }

  @Test("A listen may say so much and no more: it is kept for as long as it lasts")
  func longListen() async throws {
    try await APIServer.run { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      let hash = String(repeating: "h", count: 70 << 10)
      try await client.request(#"{"r":1,"a":"q","b":{"p":"/a","h":"\#(hash)"}}"#)
      #expect(try await client.answer()?.contains("too_big") == true)
      try await client.request(#"{"r":2,"a":"q","b":{"p":"/a","h":"","q":{"l":1,"x":"\#(hash)"},"t":1}}"#)
      #expect(try await client.answer()?.contains("too_big") == true)
      try await client.request(#"{"r":3,"a":"q","b":{"p":"/a","h":"short"}}"#)
      var answer = try await client.answer()
      if answer?.contains(#""a":"d""#) == true { answer = try await client.answer() }
      #expect(answer?.contains(#""s":"ok""#) == true)
      try await client.close()
    }
  }

  @Test("Control messages on a transport that a client moves to are not kept")
  func controlMessages() async throws {
    try await APIServer.run { server in
      let page = try await LongPollTests.Page.open(server)
      let session = try #require(page.hello["d"]?["d"]?["s"]?.string)
      let (client, answer) = try await SocketClient.open(to: server.port, "/.ws?v=5&ns=game&s=\(session)")
      #expect(answer.hasPrefix("HTTP/1.1 101"))
      #expect(try await client.next()?.contains(#""t":"a""#) == true)
      let control = ClientFrameTests.text(#"{"t":"c","d":{"t":"x","d":{}}}"#)
      for _ in 0..<5 { try await client.write((0..<500).flatMap { _ in control }) }
      try await client.send(#"{"t":"c","d":{"t":"p","d":{}}}"#)
      #expect(try await client.next()?.contains(#""t":"o""#) == true)
      #expect(server.metrics.sockets.open >= 1)
      try await client.close()
    }
  }

  @Test("Of pings that come together the last is answered")
  func pings() async throws {
    try await APIServer.run { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      try await client.write((0..<200).flatMap { [0x89, 0x81, 0, 0, 0, 0, UInt8($0)] as [UInt8] })
      func pongs() async throws -> [UInt8?] {
        try await client.controlFrames().filter { $0.opcode == 10 }.map(\.payload.last)
      }
      #expect(try await becomes { try await pongs().last == 199 })
      #expect(try await pongs().count < 200)
      try await client.close()
    }
  }

  @Test("The segments of a long-polling client are found among any number of parameters")
  func manyParameters() throws {
    let text = "seg0=0&ts0=1&d0=e30.&" + String(repeating: "a&", count: 5000) + "seg1=1&ts1=1&d1=e30."
    let query = try #require(QueryString(parsing: Array(text.utf8)))
    #expect(LongPollSegments.segments(in: query)?.map(\.number) == [0, 1])
  }
}
