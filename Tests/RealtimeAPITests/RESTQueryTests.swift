import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// The acceptance checks of queries over REST.
struct RESTQueryTests {
  private static let key = "orderBy=%22$key%22"
  private static let height = "orderBy=%22height%22"

  private static func rules(_ server: APIServer, _ rules: String) async throws {
    // Who may read is another test's.
    let open = "{\"rules\":{\".read\":true,\".write\":true\(rules == "{}" ? "" : ",")\(rules.dropFirst())}"
    try await server.expect(
      .init("PUT", "/.settings/rules.json", open, headers: APIServer.admin, is: "{\"status\":\"ok\"}"))
  }

  private static let dinosaurs = """
    {"bruhath":{"height":0.8,"order":"b"},"lambeo":{"height":2.1,"order":"a"},"linh":{"height":0.6,"order":"b"},\
    "ptero":{"height":"tall"},"stego":{"height":4},"tric":{"height":3}}
    """

  @Test("26. orderBy child with startAt, endAt, equalTo; strings and numbers")
  func child() async throws {
    try await APIServer.run { server in
      try await Self.rules(server, "{\"dinosaurs\":{\".indexOn\":[\"height\",\"order\"]}}")
      let path = "/dinosaurs.json?\(Self.height)"
      try await server.expect(
        .init("PUT", "/dinosaurs.json", Self.dinosaurs),
        .init("GET", "\(path)&startAt=3", is: #"{"ptero":{"height":"tall"},"stego":{"height":4},"tric":{"height":3}}"#),
        .init("GET", "\(path)&startAt=3&endAt=4", is: #"{"stego":{"height":4},"tric":{"height":3}}"#),
        .init("GET", "\(path)&equalTo=4", is: #"{"stego":{"height":4}}"#),
        .init("GET", "\(path)&equalTo=%22tall%22", is: #"{"ptero":{"height":"tall"}}"#),
        .init("GET", "\(path)&equalTo=5", is: "null"),
        .init(
          "GET", "/dinosaurs.json?orderBy=%22order%22&startAt=%22b%22,%22c%22",
          is: #"{"linh":{"height":0.6,"order":"b"}}"#),
        .init("GET", "/dinosaurs/stego/height.json?\(Self.key)&limitToFirst=1", is: "null"),
        .init("GET", "/absent.json?\(Self.key)", is: "null"))
    }
  }

  @Test("27. Mixed types order null < false < true < number < string < object")
  func mixed() async throws {
    try await APIServer.run { server in
      try await Self.rules(server, "{\"m\":{\".indexOn\":\"v\"}}")
      try await server.expect(
        .init(
          "PUT", "/m.json",
          #"{"a":{"v":{"x":1}},"b":{"v":"s"},"c":{"v":-5},"d":{"v":true},"e":{"v":false},"f":{"w":1},"g":{"v":""},"h":{"v":7.5}}"#
        ))
      // The names of the first k children, for each k: their order.
      var order: [String] = []
      for count in 1...8 {
        let body = try await server.send("GET", "/m.json?orderBy=%22v%22&limitToFirst=\(count)").json
        order += (body?.object ?? []).map(\.key).filter { !order.contains($0) }
      }
      #expect(order == ["f", "e", "d", "c", "h", "g", "b", "a"])
    }
  }

  @Test("28. $key order: -1, 2, 10, a, b; $key with a numeric bound: 400")
  func keys() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/q.json", #"{"-1":1,"2":2,"10":3,"a":4,"b":5}"#),
        .init("GET", "/q.json?\(Self.key)&limitToFirst=3", is: #"{"-1":1,"2":2,"10":3}"#),
        .init("GET", "/q.json?\(Self.key)&limitToLast=3", is: #"{"10":3,"a":4,"b":5}"#),
        .init("GET", "/q.json?\(Self.key)&startAt=%22a%22", is: #"{"a":4,"b":5}"#),
        .init("GET", "/q.json?\(Self.key)&startAt=%2210%22&endAt=%22a%22", is: #"{"10":3,"a":4}"#),
        .init("GET", "/q.json?\(Self.key)&equalTo=%22b%22", is: #"{"b":5}"#),
        .init(
          "GET", "/q.json?\(Self.key)&startAt=5", status: 400,
          is: APIServer.error("Provided key index type is invalid, must be string")))
    }
  }

  @Test("29. $value and nested a/b index; $priority")
  func otherOrders() async throws {
    try await APIServer.run { server in
      try await Self.rules(server, "{\"scores\":{\".indexOn\":\".value\"},\"deep\":{\"$room\":{\".indexOn\":\"a/b\"}}}")
      try await server.expect(
        .init("PUT", "/scores.json", #"{"x":30,"y":10,"z":20}"#),
        .init("GET", "/scores.json?orderBy=%22$value%22&limitToFirst=1", is: #"{"y":10}"#),
        .init("GET", "/scores.json?orderBy=%22$value%22&startAt=20", is: #"{"x":30,"z":20}"#),
        .init("PUT", "/deep/r1.json", #"{"x":{"a":{"b":2}},"y":{"a":{"b":1}}}"#),
        .init("GET", "/deep/r1.json?orderBy=%22a/b%22&limitToLast=1", is: #"{"x":{"a":{"b":2}}}"#),
        .init("PUT", "/p.json", #"{"x":{".value":1,".priority":2},"y":{".value":2,".priority":1},"z":3}"#),
        .init("GET", "/p.json?orderBy=%22$priority%22&limitToLast=1", is: #"{"x":1}"#),
        .init("GET", "/p.json?orderBy=%22$priority%22&limitToFirst=1", is: #"{"z":3}"#),
        .init(
          "GET", "/p.json?orderBy=%22$priority%22&startAt=1&format=export",
          is: #"{"x":{".value":1,".priority":2},"y":{".value":2,".priority":1}}"#))
    }
  }

  @Test("30. limitToFirst and limitToLast; both: 400; 0 and x: 400")
  func limits() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/q.json", #"{"a":1,"b":2,"c":3}"#),
        .init("GET", "/q.json?\(Self.key)&limitToFirst=2", is: #"{"a":1,"b":2}"#),
        .init("GET", "/q.json?\(Self.key)&limitToLast=1", is: #"{"c":3}"#),
        .init(
          "GET", "/q.json?\(Self.key)&limitToFirst=1&limitToLast=1", status: 400,
          is: APIServer.error("Only one of limitToFirst and limitToLast may be specified")),
        .init("GET", "/q.json?\(Self.key)&limitToFirst=0", status: 400, is: APIServer.error("limitToFirst must be positive")),
        .init("GET", "/q.json?\(Self.key)&limitToLast=-1", status: 400, is: APIServer.error("limitToLast must be positive")),
        .init("GET", "/q.json?\(Self.key)&limitToLast=x", status: 400, is: APIServer.error("limitToLast must be an integer")),
        .init(
          "GET", "/q.json?\(Self.key)&limitToFirst=1.5", status: 400, is: APIServer.error("limitToFirst must be an integer")))
    }
  }

  @Test("31. Filter without orderBy: 400; unquoted orderBy: 400; what goes with what")
  func malformed() async throws {
    let path = "orderBy must be a valid JSON encoded path"
    try await APIServer.run { server in
      try await server.expect(
        .init(
          "GET", "/q.json?limitToFirst=1", status: 400,
          is: APIServer.error("orderBy must be defined when other query parameters are defined")),
        .init("GET", "/q.json?orderBy=a", status: 400, is: APIServer.error(path)),
        .init("GET", "/q.json?orderBy=5", status: 400, is: APIServer.error(path)),
        .init("GET", "/q.json?orderBy=%22%22", status: 400, is: APIServer.error(path)),
        .init("GET", "/q.json?orderBy=%22a.b%22", status: 400, is: APIServer.error(path)),
        .init("GET", "/q.json?orderBy=%22$other%22", status: 400, is: APIServer.error(path)),
        .init(
          "GET", "/q.json?\(Self.key)&startAt=a", status: 400,
          is: APIServer.error("Constraint index field must be a JSON primitive")),
        .init(
          "GET", "/q.json?\(Self.key)&startAt=%5B1%5D", status: 400,
          is: APIServer.error("Constraint index field must be a JSON primitive")),
        .init(
          "GET", "/q.json?\(Self.key)&startAt=", status: 400,
          is: APIServer.error("Constraint index field must be a JSON primitive")),
        .init(
          "GET", "/q.json?\(Self.key)&equalTo=%22b%22&startAt=%22a%22", status: 400,
          is: APIServer.error("equalTo cannot be specified in addition to startAfter, startAt, endAt, or endBefore")))
    }
  }

  @Test("32. Missing index: 400 naming field and path; fixed by uploading rules, no restart")
  func missingIndex() async throws {
    let ruled = Self.noIndex("height", "/dinosaurs", rules: nil)
    let text = Self.noIndex("height", "/dinosaurs", rules: #"\"dinosaurs\":{\".indexOn\":\"height\"}"#)
    let value = Self.noIndex(
      ".value", "/dinosaurs/stego", rules: #"\"dinosaurs\":{\"stego\":{\".indexOn\":\".value\"}}"#)
    try await APIServer.run { server in
      try await server.expect(
        .init("GET", "/dinosaurs.json?\(Self.height)", status: 400, is: text),
        .init("PUT", "/dinosaurs.json", Self.dinosaurs),
        .init("GET", "/dinosaurs.json?\(Self.height)", status: 400, is: text),
        .init("GET", "/dinosaurs.json?\(Self.height)", headers: APIServer.admin, status: 400, is: text),
        .init("GET", "/dinosaurs/stego.json?orderBy=%22$value%22", status: 400, is: value),
        .init("GET", "/dinosaurs.json?\(Self.key)&limitToLast=1", is: #"{"tric":{"height":3}}"#))
      try await Self.rules(server, "{\"$any\":{\".indexOn\":\"height\"}}")
      try await server.expect(
        .init("GET", "/dinosaurs.json?\(Self.height)&limitToLast=1", is: #"{"ptero":{"height":"tall"}}"#),
        .init("GET", "/dinosaurs.json?\(Self.height)&limitToFirst=1&ns=other", status: 400, is: text))
      try await Self.rules(server, "{}")
      try await server.expect(.init("GET", "/dinosaurs.json?\(Self.height)", status: 400, is: ruled))
    }
  }

  /// The refusal of a query without an index; where no rules are set, with those that would do.
  private static func noIndex(_ order: String, _ path: String, rules: String?) -> String {
    let words = #"{"error":"Index not defined, add \".indexOn\": \"\#(order)\", for path \"\#(path)\", to the rules"#
    guard let rules else { return words + #""}"# }
    return words
      + #". There are none yet: write {\"rules\":{\".read\":true,\".write\":true,\#(rules)}} into a file rules.json, "#
      + #"and load it with \"doubloon rules put rules.json\", or start with \"doubloon dev --rules rules.json\"."}"#
  }

  @Test("33. startAfter and endBefore exclude the bound")
  func exclusive() async throws {
    try await APIServer.run { server in
      try await Self.rules(server, "{\"q\":{\".indexOn\":\".value\"}}")
      try await server.expect(
        .init("PUT", "/q.json", #"{"a":1,"b":2,"c":2,"d":3}"#),
        .init("GET", "/q.json?orderBy=%22$value%22&startAfter=2", is: #"{"d":3}"#),
        .init("GET", "/q.json?orderBy=%22$value%22&startAfter=2,%22b%22", is: #"{"c":2,"d":3}"#),
        .init("GET", "/q.json?orderBy=%22$value%22&startAfter=2,%22%5BMAX_NAME%5D%22", is: #"{"d":3}"#),
        .init("GET", "/q.json?orderBy=%22$key%22&startAt=%22%5BMAX_NAME%5D%22", is: "null"),
        .init("GET", "/q.json?orderBy=%22$key%22&startAt=%22%5BMIN_NAME%5D%22&endAt=%22b%22", is: #"{"a":1,"b":2}"#),
        .init("GET", "/q.json?orderBy=%22$value%22&endBefore=2", is: #"{"a":1}"#),
        .init("GET", "/q.json?orderBy=%22$value%22&endBefore=2,%22c%22&limitToLast=1", is: #"{"b":2}"#),
        .init("GET", "/q.json?\(Self.key)&startAfter=%22a%22&endBefore=%22d%22", is: #"{"b":2,"c":2}"#))
    }
  }
}
