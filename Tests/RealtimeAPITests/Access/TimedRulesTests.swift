import AccessRules
import ServerTestSupport
import StorageCore
import Testing
import TreeDatabase
import TreeModel

/// Read rules that look at `now`: a listen that they allowed ends when they do so no more, though nothing was written.
struct TimedRulesTests {
  /// Open until 50 ms after the start; and open as long as the data say.
  private static let rules = """
    {"rules": {
      "sale": {".read": "now < \(APIServer.start + 50)"},
      "lease": {".read": "root.child('until').val() > now"},
      "recent": {".read": "now - root.child('since').val() < 40"}
    }}
    """

  private func run(_ test: (APIServer) async throws -> Void) async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/.settings/rules.json", Self.rules, headers: APIServer.admin),
        .init("PUT", "/until.json", "\(APIServer.start + 50)", headers: APIServer.admin),
        .init("PUT", "/since.json", "\(APIServer.start)", headers: APIServer.admin))
      try await test(server)
    }
  }

  @Test("A socket's listens end when their time is over, and not before", arguments: ["sale", "lease"])
  func socket(_ place: String) async throws {
    try await run { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      try await client.request(#"{"r":1,"a":"q","b":{"p":"/\#(place)","h":""}}"#)
      #expect(try await client.answer() == #"{"r":1,"b":{"s":"ok","d":{}}}"#)
      // To the last moment.
      server.clock.advance(by: 49)
      try await server.expect(.init("PUT", "/\(place).json", "1", headers: APIServer.admin))
      #expect(try await client.answer() == #"{"a":"d","b":{"p":"\#(place)","d":1}}"#)
      server.clock.advance(by: 1)
      #expect(try await client.answer() == #"{"a":"c","b":{"p":"\#(place)"}}"#)
      try await client.close()
    }
  }

  @Test("A stream is cancelled when its time is over")
  func stream() async throws {
    try await run { server in
      let client = try await EventClient.open("/sale.json", port: server.port)
      _ = try await client.next()
      #expect(try await client.event() == #"put {"path":"/","data":null}"#)
      server.clock.advance(by: 50)
      #expect(try await client.event() == "cancel null")
    }
  }

  @Test("The judge says until when a verdict holds: the next turn of a comparison with now, a minute at most, or for ever")
  func verdicts() async throws {
    try await run { server in
      let namespace = try #require(server.database.namespace(named: "game"))
      let rules = try #require(server.database.catalog.ruleSet(of: namespace))
      func holds(_ path: Path) -> Int64? {
        let verdict = server.database.decideRead(path, query: nil, in: namespace, as: nil, by: rules)
        #expect(verdict.isAllowed)
        return verdict.holdsUntil.map { $0 - APIServer.start }
      }
      #expect(holds("sale") == 51)
      #expect(holds("lease") == 51)
      // What it turns on is not known here: it is asked again after a minute.
      #expect(holds("recent") == 60_000)
      let open = try RuleSet(parsing: #"{"rules": {".read": "auth == null || now > 5"}}"#)
      #expect(server.database.decideRead("a", query: nil, in: namespace, as: nil, by: open).holdsUntil == nil)
    }
  }
}
