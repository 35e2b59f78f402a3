import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

/// The acceptance checks of the REST surface.
struct RESTDataTests {
  @Test("14. /x/.priority.json GET and PUT; PUT on an absent node fails")
  func priority() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/x/.priority.json", "5", status: 400), .init("PUT", "/x.json", "1"),
        .init("PUT", "/x/.priority.json", "5", is: "5"), .init("GET", "/x/.priority.json", is: "5"),
        .init("GET", "/x.json?format=export", is: #"{".value":1,".priority":5}"#), .init("GET", "/x.json", is: "1"),
        .init("PUT", "/x/.priority.json", "true", status: 400),
        .init("POST", "/x/.priority.json", "1", status: 400), .init("PATCH", "/x/.priority.json", "{}", status: 400),
        .init("DELETE", "/x/.priority.json", is: "null"), .init("GET", "/x.json?format=export", is: "1"))
    }
  }

  @Test("15. callback=f: f(...); download=n: Content-Disposition")
  func callback() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/j.json", #"{"a":1}"#),
        .init(
          "GET", "/j.json?callback=f", is: #"f({"a":1})"#, having: ["content-type": "application/javascript; charset=utf-8"]),
        .init("GET", "/j.json?callback=my.game_1", is: #"my.game_1({"a":1})"#),
        .init("GET", "/j.json?callback=alert(1)", status: 400), .init("GET", "/j.json?callback=", status: 400),
        .init("PUT", "/j.json?callback=f", "1", status: 400),
        .init("GET", "/j.json?download=data.json", having: ["content-disposition": "attachment; filename=\"data.json\""]),
        .init("GET", "/j.json?download=a%0d%0ab", status: 400))
    }
  }

  @Test(
    "16. Array rendering",
    arguments: [
      (#"{"0":"a","1":"b","2":"c"}"#, #"["a","b","c"]"#), (#"{"0":"a","3":"d"}"#, #"["a",null,null,"d"]"#),
      (#"{"1":"v"}"#, #"[null,"v"]"#), (#"{"0":1,"1":2,"9":3}"#, #"{"0":1,"1":2,"9":3}"#), (#"{"5":1}"#, #"{"5":1}"#),
    ])
  func arrays(_ row: (String, String)) async throws {
    // The rule is maxKey < 2 x count; the check's list says the same of {0,3}: 3 < 4.
    try await APIServer.run { server in
      try await server.expect(.init("PUT", "/r.json", row.0), .init("GET", "/r.json", is: row.1))
    }
  }

  @Test("17. Invalid key characters in path or body, a 769-byte key and depth 33: 400")
  func badKeys() async throws {
    let long = String(repeating: "k", count: 769)
    let deep = (1...33).map { "\($0 + 100)" }.joined(separator: "/")
    try await APIServer.run { server in
      for path in ["a%23b", "a%24b", "a%5Bb", "a%5Db", "a.b", "a%01b", "a%7Fb", "x/.priority/y", long, deep, "a%zz", "a%ff"] {
        try await server.expect(.init("PUT", "/\(path).json", "1", status: 400), .init("GET", "/\(path).json", status: 400))
      }
      for key in ["a.b", "a#b", "$a", "[", "]", "a/b", "", "a\\u0001", "\\u007f", ".other", long] {
        try await server.expect(.init("PUT", "/k.json", "{\"\(key)\":1}", status: 400))
      }
      let nested = String(repeating: "{\"a\":", count: 32) + "1" + String(repeating: "}", count: 32)
      try await server.expect(
        .init("PUT", "/k.json", nested, status: 400), .init("PUT", "/.json", nested),
        .init("PUT", "/\(long.dropLast()).json", "1"))
    }
  }

  @Test("18. NFC and NFD spellings of é are two distinct keys")
  func normalisation() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/u/%C3%A9.json", "1"), .init("PUT", "/u/e%CC%81.json", "2"),
        .init("GET", "/u/%C3%A9.json", is: "1"), .init("GET", "/u/e%CC%81.json", is: "2"))
      let both = try await server.send("GET", "/u.json")
      #expect(both.json?.object?.count == 2)
    }
  }

  @Test("19. Empty body and bad JSON: the two 400 texts")
  func badBodies() async throws {
    try await APIServer.run { server in
      let none = APIServer.error("Error: No data supplied.")
      let bad = APIServer.error("Invalid data; couldn't parse JSON object, array, or value.")
      for method in ["PUT", "POST"] {
        try await server.expect(
          .init(method, "/b.json", status: 400, is: none), .init(method, "/b.json", "", status: 400, is: none),
          .init(method, "/b.json", "  ", status: 400, is: none), .init(method, "/b.json", "{a:1}", status: 400, is: bad),
          .init(method, "/b.json", "tru", status: 400, is: bad), .init(method, "/b.json", "1 2", status: 400, is: bad))
      }
      try await server.expect(
        .init("PATCH", "/b.json", status: 400, is: none), .init("PATCH", "/b.json", "{", status: 400),
        .init("GET", "/b.json", is: "null"))
    }
  }

  @Test("20. .sv timestamp: the clock's time, the same value twice in one write")
  func timestamp() async throws {
    try await APIServer.run { server in
      let sv = #"{".sv":"timestamp"}"#
      let now = APIServer.start
      try await server.expect(
        .init("PUT", "/t.json", #"{"a":\#(sv),"b":{"c":\#(sv)}}"#, is: #"{"a":\#(now),"b":{"c":\#(now)}}"#))
      server.clock.advance(by: 1234)
      try await server.expect(
        .init("PATCH", "/t.json", #"{"b/c":\#(sv),"d":1}"#, is: #"{"b/c":\#(now + 1234),"d":1}"#),
        .init("GET", "/t.json", is: #"{"a":\#(now),"b":{"c":\#(now + 1234)},"d":1}"#))
    }
  }

  @Test("21. increment on absent, int, double, string, at Int64.max; 100 parallel increments sum exactly")
  func increment() async throws {
    try await APIServer.run { server in
      func step(_ delta: String) -> String { #"{".sv":{"increment":\#(delta)}}"# }
      try await server.expect(
        .init("PUT", "/i.json", step("5"), is: "5"), .init("PUT", "/i.json", step("2"), is: "7"),
        .init("PUT", "/i.json", step("0.5"), is: "7.5"), .init("PUT", "/i.json", step("1"), is: "8.5"),
        .init("PUT", "/i.json", "\"text\""), .init("PUT", "/i.json", step("3"), is: "3"),
        .init("PUT", "/i.json", "9223372036854775807"), .init("PUT", "/i.json", step("1"), is: "9223372036854776000"),
        .init("PUT", "/n.json", "0"))
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<100 {
          group.addTask { try await server.send("PUT", "/n.json", #"{".sv":{"increment":1}}"#).status }
        }
        for try await status in group { #expect(status == 200) }
      }
      try await server.expect(.init("GET", "/n.json", is: "100"))
    }
  }

  @Test("22. Unknown .sv: 400", arguments: [#""now""#, "5", #"{"increment":"a"}"#, #"{"decrement":1}"#, "null"])
  func unknownServerValue(_ value: String) async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/v.json", "{\".sv\":\(value)}", status: 400), .init("GET", "/v.json", is: "null"))
      #expect(try server.revision() == 0)
    }
  }

  @Test("23. 2^53+1 and 1e308 round-trip; 1.0 prints 1")
  func numbers() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/f.json", "9007199254740993", is: "9007199254740993"), .init("GET", "/f.json", is: "9007199254740993"),
        .init("PUT", "/f.json", "1e308", is: "1e+308"), .init("GET", "/f.json", is: "1e+308"),
        .init("PUT", "/f.json", "1.0", is: "1"), .init("PUT", "/f.json", "-0.0", is: "0"),
        .init("PUT", "/f.json", "1e309", status: 400))
    }
  }

  @Test("24. Preflight OPTIONS and Access-Control-Allow-Origin")
  func preflight() async throws {
    try await APIServer.run { server in
      let response = try await server.send(
        "OPTIONS", "/a.json", headers: ["Origin": "https://game.example", "Access-Control-Request-Method": "PUT"])
      #expect(response.status == 200 && response.body.isEmpty)
      #expect(response["access-control-allow-origin"] == "*")
      for word in ["GET", "PUT", "PATCH", "POST", "DELETE"] {
        #expect(response["access-control-allow-methods"]?.contains(word) == true)
      }
      for word in ["Authorization", "Content-Type", "X-Firebase-ETag", "If-Match", "X-HTTP-Method-Override"] {
        #expect(response["access-control-allow-headers"]?.contains(word) == true)
      }
      #expect(response["access-control-expose-headers"]?.contains("ETag") == true)
      try await server.expect(.init("GET", "/a.json", having: ["access-control-allow-origin": "*"]))
    }
  }

  @Test("25. Two namespaces are isolated: by ns, by host, and the default for addresses")
  func namespaces() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/x.json?ns=one", "1"), .init("PUT", "/x.json?ns=two", "2"), .init("PUT", "/x.json", "0"),
        .init("GET", "/x.json?ns=one", is: "1"), .init("GET", "/x.json?ns=two", is: "2"),
        .init("GET", "/x.json?ns=game", is: "0"), .init("GET", "/x.json?ns=three", is: "null"),
        .init("GET", "/x.json?ns=a/b", status: 400), .init("GET", "/x.json?ns=", status: 400))
      for (host, value) in [
        ("one.localhost:9000", "1"), ("two.example.com", "2"), ("127.0.0.1:9000", "0"), ("[::1]:9000", "0"), ("game", "0"),
        ("localhost", "0"),
      ] {
        #expect(try await server.send("GET", "/x.json", host: host).body == value, "\(host)")
      }
      #expect(server.announced.all.sorted() == ["game", "one", "two"])
    }
  }
}
