import ServerTestSupport
import TestSupport
import Testing
import TreeModel

/// The acceptance checks of the REST surface.
struct RESTBasicsTests {
  @Test("1. GET absent path: 200 null")
  func absent() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("GET", "/nothing/here.json", is: "null", having: ["content-type": "application/json; charset=utf-8"]),
        .init("GET", "/.json", is: "null"))
      #expect(server.announced.all == [], "a read makes no namespace")
    }
  }

  @Test("2. PUT object, GET returns equal JSON; PUT echoes it")
  func put() async throws {
    try await APIServer.run { server in
      let text = #"{"alive":true,"level":4,"name":"Bob \"B\" é😀","ratio":0.25}"#
      try await server.expect(
        .init("PUT", "/users/bob.json", text, is: text), .init("GET", "/users/bob.json", is: text),
        .init("GET", "/users/bob/level.json", is: "4"), .init("GET", "/users/bob/.json", is: text),
        .init("GET", "/users%2Fbob/level.json", is: "4"))
      #expect(server.announced.all == ["game"])
    }
  }

  @Test("3. PUT null, {} and [] delete; empty parents vanish", arguments: ["null", "{}", "[]", #"{"x":null}"#])
  func deletion(_ nothing: String) async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/a/b/c.json", "1"), .init("PUT", "/a/b/c.json", nothing, is: "null"),
        .init("GET", "/a.json", is: "null"), .init("GET", "/.json", is: "null"))
    }
  }

  @Test("4. POST: {\"name\":k}, k 20 chars; successive ids sort ascending")
  func post() async throws {
    try await APIServer.run { server in
      var names: [String] = []
      for number in 1...5 {
        let response = try await server.send("POST", "/list.json", "\(number)")
        let name = try #require(response.json?["name"]?.string)
        #expect(response.status == 200 && name.utf8.count == 20)
        names.append(name)
      }
      #expect(names == names.sorted() && Set(names).count == 5)
      try await server.expect(.init("GET", "/list/\(names[2]).json", is: "3"))
    }
  }

  @Test("5. PATCH merges; null members delete; omitted remain")
  func patch() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/p.json", #"{"a":1,"b":2,"c":3}"#),
        .init("PATCH", "/p.json", #"{"a":9,"b":null}"#, is: #"{"a":9,"b":null}"#),
        .init("GET", "/p.json", is: #"{"a":9,"c":3}"#))
    }
  }

  @Test("6. PATCH with a/b keys changes only those leaves")
  func deepPatch() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/p.json", #"{"a":{"b":1,"c":2},"d":3}"#), .init("PATCH", "/p.json", #"{"a/b":7,"/d":8}"#),
        .init("GET", "/p.json", is: #"{"a":{"b":7,"c":2},"d":8}"#))
    }
  }

  @Test("7. PATCH whose keys are ancestor and descendant: 400, nothing written")
  func overlap() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init(
          "PATCH", "/p.json", #"{"a":1,"a/b":2}"#, status: 400,
          is: APIServer.error("Invalid update: /p/a is an ancestor of /p/a/b; an update cannot write both.")),
        .init("GET", "/p.json", is: "null"))
    }
  }

  @Test("8. PATCH null deletes; PATCH 5 or [1]: 400 with the text")
  func oddPatch() async throws {
    let text = "Invalid data; couldn't parse JSON object. Are you sending a JSON object with valid key names?"
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/p.json", "1"), .init("PATCH", "/p.json", "5", status: 400, is: APIServer.error(text)),
        .init("PATCH", "/p.json", "[1]", status: 400, is: APIServer.error(text)), .init("GET", "/p.json", is: "1"),
        .init("PATCH", "/p.json", "null", is: "null"), .init("GET", "/p.json", is: "null"))
    }
  }

  @Test("9. DELETE: null")
  func delete() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/d.json", #"{"a":1}"#), .init("DELETE", "/d.json", is: "null"), .init("GET", "/d.json", is: "null"),
        .init("DELETE", "/d.json", is: "null"))
    }
  }

  @Test("10. Method override by header and by query parameter")
  func methodOverride() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("POST", "/o.json", "1", headers: ["X-HTTP-Method-Override": "PUT"], is: "1"),
        .init("POST", "/o.json?x-http-method-override=PUT", "2", is: "2"),
        .init("POST", "/o.json?x-http-method-override=GET", is: "2"),
        .init("POST", "/o.json", headers: ["x-http-method-override": "delete"], is: "null"),
        .init("POST", "/o.json", "1", headers: ["X-HTTP-Method-Override": "BREW"], status: 405),
        .init("GET", "/o.json", is: "null"))
    }
  }

  @Test("11. print=silent: 204 empty; print=pretty indented")
  func printing() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/s.json?print=silent", #"{"a":1}"#, status: 204, is: "", having: ["content-length": ""]),
        .init("GET", "/s.json?print=silent", status: 204, is: ""), .init("GET", "/s.json?print=pretty", is: "{\n  \"a\": 1\n}"),
        .init("PUT", "/s.json?print=pretty", #"{"b":2}"#, is: "{\n  \"b\": 2\n}"),
        .init("GET", "/s.json?print=loud", status: 400))
    }
  }

  @Test("12. shallow=true on map, on leaf; with orderBy: 400; with limitToFirst alone works")
  func shallow() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/m.json", #"{"a":{"x":{"y":1}},"b":2,"10":3,"9":4}"#),
        .init("GET", "/m.json?shallow=true", is: #"{"9":true,"10":true,"a":true,"b":true}"#),
        .init("GET", "/m/b.json?shallow=true", is: "2"), .init("GET", "/none.json?shallow=true", is: "null"),
        .init("GET", "/m.json?shallow=true&orderBy=%22$key%22", status: 400),
        .init("GET", "/m.json?shallow=true&limitToFirst=2", is: #"{"9":true,"10":true}"#),
        .init("GET", "/m.json?shallow=true&limitToFirst=2&startAfter=10&timeout=3s", is: #"{"a":true,"b":true}"#),
        .init("GET", "/m.json?shallow=true&limitToFirst=0", status: 400),
        .init("GET", "/m.json?shallow=true&print=pretty&limitToFirst=1", is: "{\n  \"9\": true\n}"))
    }
  }

  @Test("13. format=export shows .priority and .value; plain GET hides them")
  func export() async throws {
    try await APIServer.run { server in
      let text = #"{"a":{".value":1,".priority":2},".priority":"high"}"#
      try await server.expect(
        .init("PUT", "/e.json", text, is: #"{"a":1}"#), .init("GET", "/e.json?format=export", is: text),
        .init("GET", "/e.json", is: #"{"a":1}"#), .init("GET", "/e.json?format=xml", status: 400))
    }
  }
}
