import ServerTestSupport
import Testing
import TreeModel

/// Rules bind a page that polls as they bind everybody (spec: rtdb-protocol §3.11, §4; §7, checks 52, 63, 64).
struct LongPollRulesTests {
  private static let rules =
    #"{"rules":{"own":{"$uid":{".read":"auth.uid==$uid",".write":"auth.uid==$uid",".validate":"newData.isNumber()"}}}}"#

  /// A page that sends one request after the other and collects what comes back.
  struct Talk {
    let page: LongPollTests.Page
    var number = 1
    var segment = 0
    var received: [JSON] = []

    init(_ page: LongPollTests.Page) { self.page = page }

    /// Sends a request, and polls until it is answered; what else came is kept.
    mutating func ask(_ request: String) async throws -> JSON {
      let wanted = try JSONParser.parse(request)["r"]?.int
      var query = LongPollTests.Page.query(["{\"t\":\"d\",\"d\":\(request)}"], from: segment)
      segment += 1
      while true {
        try await poll(query)
        query = ""
        if let answer = received.first(where: { $0["r"]?.int == wanted }) { return answer["b"] ?? .null }
      }
    }

    /// Polls until the server says something of this kind.
    mutating func pushed(_ action: String) async throws -> JSON {
      while true {
        if let push = received.first(where: { $0["a"]?.string == action }) { return push["b"] ?? .null }
        try await poll("")
      }
    }

    private mutating func poll(_ query: String) async throws {
      received += try LongPollTests.Page.messages(try await page.get(query), number: number).compactMap { $0["d"] }
      number += 1
    }
  }

  @Test("Reads, writes and listens of a page are judged as who it is; new rules and another token revoke what it listens to")
  func judged() async throws {
    try await APIServer.run { server in
      try await server.expect(.init("PUT", "/.settings/rules.json", Self.rules, headers: APIServer.admin))
      var talk = Talk(try await LongPollTests.Page.open(server))
      #expect(try await talk.ask(#"{"r":1,"a":"q","b":{"p":"/own/bob","h":""}}"#)["s"] == "permission_denied")
      #expect(try await talk.ask(#"{"r":2,"a":"p","b":{"p":"/own/bob","d":1}}"#)["s"] == "permission_denied")
      #expect(try await talk.ask(#"{"r":3,"a":"g","b":{"p":"/own/bob","q":{}}}"#)["s"] == "permission_denied")
      #expect(try await talk.ask(#"{"r":4,"a":"auth","b":{"cred":"\#(RulesTests.token("bob"))"}}"#)["s"] == "ok")
      #expect(try await talk.ask(#"{"r":5,"a":"p","b":{"p":"/own/bob","d":"text"}}"#)["s"] == "permission_denied")
      #expect(try await talk.ask(#"{"r":6,"a":"p","b":{"p":"/own/bob","d":1}}"#)["s"] == "ok")
      #expect(try await talk.ask(#"{"r":7,"a":"q","b":{"p":"/own/bob","h":""}}"#)["s"] == "ok")
      #expect(try await talk.pushed("d") == ["p": "own/bob", "d": 1])
      #expect(try await talk.ask(#"{"r":8,"a":"o","b":{"p":"/own/eve","d":1}}"#)["s"] == "permission_denied")
      #expect(try await server.value("/own/bob.json?auth=\(RulesTests.token("bob"))") == "1")
      // Somebody else now: the listen ends.
      #expect(try await talk.ask(#"{"r":9,"a":"auth","b":{"cred":"\#(RulesTests.token("eve"))"}}"#)["s"] == "ok")
      #expect(try await talk.pushed("c") == ["p": "own/bob"])
      #expect(try await talk.ask(#"{"r":10,"a":"q","b":{"p":"/own/eve","h":""}}"#)["s"] == "ok")
      talk.received = []
      try await server.expect(.init("PUT", "/.settings/rules.json", #"{"rules":{}}"#, headers: APIServer.admin))
      #expect(try await talk.pushed("c") == ["p": "own/eve"])
    }
  }
}
