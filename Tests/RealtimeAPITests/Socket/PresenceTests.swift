import ServerTestSupport
import Testing

@testable import RealtimeAPI

/// What happens when a connection ends (firebase-js-sdk, `PersistentConnection.ts`).
struct PresenceTests {
  static let transcripts: [Transcript] = [
    Transcript(
      "60: set, update and cancel, carried out as one commit with the time of the end",
      #"b> {"r":1,"a":"q","b":{"p":"/p","h":""}}"#, #"b< {"r":1,"b":{"s":"ok","d":{}}}"#,
      #"a> {"r":1,"a":"o","b":{"p":"/p/a","d":{"state":"off","at":{".sv":"timestamp"}}}}"#,
      #"a< {"r":1,"b":{"s":"ok","d":""}}"#, #"a> {"r":2,"a":"om","b":{"p":"p","d":{"b":1,"c/d":2}}}"#,
      #"a< {"r":2,"b":{"s":"ok","d":""}}"#, #"a> {"r":3,"a":"o","b":{"p":"/p/gone","d":1}}"#,
      #"a< {"r":3,"b":{"s":"ok","d":""}}"#, #"a> {"r":4,"a":"oc","b":{"p":"/p/gone","d":null}}"#,
      #"a< {"r":4,"b":{"s":"ok","d":""}}"#, #"a> {"r":5,"a":"oc","b":{"p":"/p/a/state","d":null}}"#,
      #"a< {"r":5,"b":{"s":"ok","d":""}}"#, "a.",
      #"b< {"a":"m","b":{"p":"p","d":{"a/at":1700000000000,"b":1,"c/d":2}}}"#),
    Transcript(
      "60: a priority of a node that is not there takes nothing from the rest",
      #"b> {"r":1,"a":"q","b":{"p":"/p","h":""}}"#, #"b< {"r":1,"b":{"s":"ok","d":{}}}"#,
      #"a> {"r":1,"a":"o","b":{"p":"/x/.priority","d":1}}"#, #"a< {"r":1,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":2,"a":"o","b":{"p":"/p","d":1}}"#, #"a< {"r":2,"b":{"s":"ok","d":""}}"#, "a.",
      #"b< {"a":"d","b":{"p":"p","d":1}}"#),
    Transcript(
      "writes that were sent before the end are before it",
      #"b> {"r":1,"a":"q","b":{"p":"/p","h":""}}"#, #"b< {"r":1,"b":{"s":"ok","d":{}}}"#,
      #"a> {"r":1,"a":"o","b":{"p":"/p","d":null}}"#, #"a< {"r":1,"b":{"s":"ok","d":""}}"#,
      #"a> {"r":2,"a":"p","b":{"p":"/p","d":"on"}}"#, #"a< {"r":2,"b":{"s":"ok","d":""}}"#,
      #"b< {"a":"d","b":{"p":"p","d":"on"}}"#, "a.", #"b< {"a":"d","b":{"p":"p","d":null}}"#),
  ]

  @Test("Presence", arguments: transcripts)
  func presence(_ transcript: Transcript) async throws { try await transcript.play() }

  @Test("Who comes again takes over: the old end comes before the new beginning, though the old socket is still open")
  func takeOver() async throws {
    try await APIServer.run { server in
      let (watcher, _) = try await SocketClient.connect(to: server.port)
      try await watcher.request(#"{"r":1,"a":"q","b":{"p":"/p","h":""}}"#)
      _ = try await watcher.answer()
      for round in 1...10 {
        let (old, session) = try await SocketClient.connect(to: server.port)
        try await old.request(#"{"r":1,"a":"o","b":{"p":"/p","d":"off\#(round)"}}"#)
        _ = try await old.answer()
        // Its first bytes come with the handshake, before anything can have happened to the old one.
        let online = ClientFrameTests.text(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/p","d":"on\#(round)"}}}"#)
        let (new, _) = try await SocketClient.open(to: server.port, "/.ws?v=5&ns=game&ls=\(session)", behind: online)
        #expect(try await watcher.answer() == #"{"a":"d","b":{"p":"p","d":"off\#(round)"}}"#)
        #expect(try await watcher.answer() == #"{"a":"d","b":{"p":"p","d":"on\#(round)"}}"#)
        #expect(try await old.next() == nil)
        _ = try await new.next()
        #expect(try await new.answer() == #"{"r":1,"b":{"s":"ok","d":""}}"#)
        try await new.close()
      }
      try await watcher.close()
    }
  }

  @Test("A session of another database, or none, cannot be taken over")
  func strangers() async throws {
    try await APIServer.run { server in
      let (first, session) = try await SocketClient.connect(to: server.port)
      let (second, _) = try await SocketClient.connect(to: server.port, "/.ws?v=5&ns=other&ls=\(session)")
      let (third, _) = try await SocketClient.connect(to: server.port, "/.ws?v=5&ns=game&ls=nobody")
      for client in [first, second, third] {
        try await client.request(#"{"r":1,"a":"s","b":{}}"#)
        #expect(try await client.answer() == #"{"r":1,"b":{"s":"ok","d":""}}"#)
        try await client.close()
      }
    }
  }

  @Test("What may not be written any more when a session ends takes nothing from what may, however much there is of it")
  func apart() async throws {
    try await APIServer.run { server in
      let (watcher, _) = try await SocketClient.connect(to: server.port)
      try await watcher.request(#"{"r":1,"a":"q","b":{"p":"/fine","h":""}}"#)
      while try await watcher.answer()?.contains(#""s":"ok""#) == false {}
      let (client, _) = try await SocketClient.connect(to: server.port)
      let members = (0..<3000).map { "\"k\($0)\":true" }.joined(separator: ",")
      try await client.request(#"{"r":1,"a":"om","b":{"p":"/","d":{\#(members),"fine":"gone","z":1}}}"#)
      #expect(try await client.answer() == #"{"r":1,"b":{"s":"ok","d":""}}"#)
      let rules = #"{"rules":{".read":true,"fine":{".write":true}}}"#
      #expect(try await server.send("PUT", "/.settings/rules.json", rules, headers: APIServer.admin).status == 200)
      try await client.close()
      while try await watcher.answer()?.contains("gone") == false {}
      #expect(try await server.send("GET", "/.json").body == #"{"fine":"gone"}"#)
      try await watcher.close()
    }
  }

  @Test("What one connection may register is bounded; what it replaces does not count")
  func bounds() async throws {
    var limits = SocketLimits()
    limits.disconnectLeavesMax = 100
    limits.disconnectBytesMax = 4000
    try await APIServer.run(sockets: limits) { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      for number in 0..<300 {
        try await client.request(#"{"r":1,"a":"o","b":{"p":"/same","d":\#(number)}}"#)
        #expect(try await client.answer() == #"{"r":1,"b":{"s":"ok","d":""}}"#)
      }
      var refused = 0
      for number in 0..<100 {
        try await client.request(#"{"r":1,"a":"o","b":{"p":"/k\#(number)","d":"x"}}"#)
        if try await client.answer()?.contains(#""s":"too_big""#) == true { refused += 1 }
      }
      #expect(refused == 1)
      try await client.request(#"{"r":1,"a":"o","b":{"p":"/l","d":"\#(String(repeating: "x", count: 4000))"}}"#)
      #expect(try await client.answer()?.contains(#""s":"too_big""#) == true)
      try await client.close()
    }
  }
}
