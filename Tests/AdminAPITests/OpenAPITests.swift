import NIOHTTP1
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import AdminAPI
@testable import HTTPServer
@testable import ServerApp

/// The OpenAPI document says what the surface does.
struct OpenAPITests {
  @Test("Every administrators' route is described: its captures by their names, its parameters once")
  func described() {
    for route in ServerSurfaces.adminHeads {
      guard let description = route.description else {
        Issue.record("\(route.method) \(route.template.text) has no description: add .described(…)")
        continue
      }
      let captures = route.template.text.split(separator: "/").filter { $0.hasPrefix("{") }
        .map { $0.filter { !"{}.".contains($0) } }
      #expect(description.captures.map(\.name) == captures, "\(route.template.text)")
      let names = description.query.map(\.name) + description.captures.map(\.name)
      #expect(Set(names).count == names.count, "\(route.template.text)")
      #expect(route.method == .GET || route.method == .DELETE || description.body != nil, "\(route.template.text)")
      #expect((description.query + description.captures).allSatisfy { $0.text.hasSuffix(".") }, "\(route.template.text)")
    }
  }

  @Test("The document and the route table agree: the same paths and methods, unique names, no reference into nothing")
  func agreement() async throws {
    try await APIServer.run { server in
      let response = try await server.send("GET", "/admin/v1/openapi", headers: APIServer.admin)
      let document = try #require(response.json)
      #expect(document["openapi"] == "3.1.0")
      var operations: [String] = []
      var names: [String] = []
      for path in document["paths"]?.object ?? [] {
        for operation in path.value.object ?? [] {
          operations.append("\(operation.key.uppercased()) \(path.key)")
          names.append(operation.value["operationId"]?.string ?? "")
          #expect(operation.value["responses"]?["200"] != nil)
        }
      }
      let table = ServerSurfaces.adminHeads.map { route in
        "\(route.method.rawValue) " + route.template.text.split(separator: "...", omittingEmptySubsequences: false).joined()
      }
      #expect(operations.sorted() == table.sorted())
      #expect(Set(names).count == names.count && !names.contains(""))
      let schemas = Set((document["components"]?["schemas"]?.object ?? []).map(\.key))
      let references = Self.references(in: document)
      #expect(references.count > 8)
      #expect(references.isSubset(of: schemas.map { "#/components/schemas/\($0)" }))
    }
  }

  private static func references(in json: JSON) -> Set<String> {
    switch json {
    case .object(let members):
      members.reduce(into: []) { found, member in
        if member.key == "$ref", let text = member.value.string { found.insert(text) }
        found.formUnion(references(in: member.value))
      }
    case .array(let elements): elements.reduce(into: []) { $0.formUnion(references(in: $1)) }
    default: []
    }
  }

  @Test("What the surface answers is what the document says, wherever there is something to look at")
  func answers() async throws {
    let functions = StubFunctions(problems: [])
    try await APIServer.run(functions: functions, participants: [EveryChange()]) { server in
      for level in 1...3 { try await server.expect(.init("PUT", "/users/bob/level.json", "\(level)")) }
      let transfer = #"{"debit":"issuance:gift","credit":"user:bob","amount":50,"key":"gift/bob"}"#
      for (method, path, body) in [
        ("POST", "ledger/transfer", transfer), ("POST", "clock", #"{"advance":5}"#), ("GET", "", nil), ("GET", "openapi", nil),
        ("GET", "events", nil), ("GET", "events?count=true", nil), ("GET", "events/1-2:/users/bob/level", nil),
        ("GET", "executions?event=1-2:/users/bob/level", nil), ("GET", "dead-letters", nil), ("GET", "why?uid=bob", nil),
        ("GET", "data?path=users/bob", nil), ("GET", "data/diff?path=users&from=1", nil), ("GET", "data/log?path=users", nil),
        ("GET", "data/children?path=users/bob", nil), ("GET", "data/children?path=users/bob/level&revision=2", nil),
        ("POST", "data/preview", #"{"path":"users/bob/level","method":"PUT","value":9}"#),
        ("PUT", "data", #"{"path":"users/bob/level","value":9,"reason":"x"}"#), ("GET", "events/histogram", nil),
        ("PATCH", "data", #"{"path":"users/bob","value":{"level":8},"reason":"x"}"#),
        ("DELETE", "data", #"{"path":"users/bob/level","reason":"x"}"#),
        ("GET", "functions", nil), ("POST", "functions/f/retry", nil), ("GET", "ledger/balance?account=user:bob", nil),
        ("GET", "ledger/statement?account=user:bob", nil), ("GET", "ledger/entries", nil),
        ("GET", "ledger/entries?before=9&code=transfer", nil), ("GET", "ledger/accounts", nil), ("GET", "ledger/verify", nil),
        ("GET", "rules", nil), ("PUT", "rules", #"{"source":"{\"rules\":{}}","reason":"x"}"#), ("GET", "rules", nil),
        ("POST", "rules/check", #"{"source":"{"}"#), ("GET", "rules/history", nil), ("GET", "rules/history/1", nil),
        ("POST", "rules/test", #"{"cases":{"cases":[{"as":null,"read":"/a","expect":"denied"}]}}"#),
        ("POST", "rules/explain", #"{"operation":"read","path":"/a"}"#),
        ("POST", "rules/rollback", #"{"version":"1","reason":"x"}"#),
        ("POST", "ledger/transfer/preview", transfer), ("POST", "ledger/reverse/preview", #"{"sequence":1}"#),
        ("GET", "find?q=bob", nil), ("GET", "find?q=%231", nil), ("GET", "verify", nil), ("GET", "config", nil),
        ("POST", "ledger/reverse", #"{"sequence":1,"reason":"x"}"#), ("GET", "namespaces", nil), ("GET", "status", nil),
        ("GET", "series?window=24h", nil), ("GET", "backups", nil), ("GET", "cluster", nil),
        ("POST", "log/verify", "{}"),
        ("GET", "log/verification", nil),
        ("GET", "audits", nil), ("POST", "drain", nil), ("POST", "mail/test", #"{"to":"bob@example.com"}"#),
      ] as [(String, String, String?)] {
        let response = try await server.send(method, "/admin/v1/\(path)", body, headers: APIServer.admin)
        let segments = (["admin", "v1"] + (path.split(separator: "?").first ?? "").split(separator: "/")).map { String($0) }
        let route = try #require(
          ServerSurfaces.adminHeads.first { $0.method.rawValue == method && $0.template.match(segments) != nil }, "\(path)")
        let description = try #require(route.description)
        #expect(response.status == 200 || description.others[response.status] != nil, "\(path): \(response.body)")
        let json = try #require(response.json)
        #expect(
          description.answer.problem(in: json, at: "the answer", names: AnswerSchemas.byName) == nil,
          "\(path): \(response.body)")
      }
    }
  }

  @Test("A browser that asks what may be done at an address is told just that")
  func preflight() async throws {
    try await APIServer.run { server in
      for (path, methods) in [
        ("/admin/v1/namespaces", "GET, HEAD, OPTIONS, POST"), ("/admin/v1/events/1-1:/a", "GET, HEAD, OPTIONS"),
        ("/admin/v1/events/1-1:/a/redeliver", "OPTIONS, POST"), ("/admin/v1/clock", "OPTIONS, POST"),
        ("/a.json", "GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS"),
      ] {
        let response = try await server.send("OPTIONS", path)
        #expect(response.status == 200 && response["allow"] == methods, "\(path)")
      }
      let wrong = try await server.send("GET", "/admin/v1/events/nothing/redeliver", headers: APIServer.admin)
      #expect(wrong.status == 405 && wrong["allow"] == "POST")
    }
  }

  @Test("What does not fit the description is refused with a sentence, and recorded; a parameter that means nothing, too")
  func refusals() async throws {
    try await APIServer.run { server in
      try await server.expect(.init("PUT", "/a.json", "1"))
      for (method, path, body, words) in [
        ("GET", "events?outcom=dead", nil, "There is no parameter \"outcom\""), ("GET", "events?limit=0", nil, "1 to 1000"),
        ("GET", "events?limit=x", nil, "limit must be an integer"), ("GET", "events?count=perhaps", nil, "true or false"),
        ("GET", "events?outcome=great", nil, "one of done"), ("GET", "data", nil, "The parameter path is missing"),
        ("POST", "ledger/transfer", #"{"debit":"a","credit":"b","amount":"5","key":"k"}"#, "\"amount\" must be an integer"),
        ("POST", "ledger/transfer", #"{"debit":"a","credit":"b","amount":5,"key":"k","reson":"x"}"#, "\"reson\" means nothing"),
        ("POST", "ledger/transfer", #"{"debit":"a","credit":"b","amount":5,"key":"k","allowNegative":"no"}"#, "true or false"),
        ("POST", "ledger/reverse", #"{"sequence":1}"#, "\"reason\" is missing"),
        ("POST", "clock", "[]", "must be a JSON object"),
      ] as [(String, String, String?, String)] {
        let response = try await server.send(method, "/admin/v1/\(path)", body, headers: APIServer.admin)
        #expect(response.status == 400 && response.error?.contains(words) == true, "\(path): \(response.body)")
      }
      let audits = try await server.send("GET", "/admin/v1/audits?result=refused", headers: APIServer.admin)
      #expect(audits.json?["actions"]?.array?.count == 5)
    }
  }
}
