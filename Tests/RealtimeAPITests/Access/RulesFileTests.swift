import NIOCore
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import APISupport

/// `/.settings/rules.json`, `/admin/v1/indexes` (firebase-tools, `src/database`), and import and export.
struct RulesFileTests {
  private static let source = "// rules\n{\"rules\": {\".read\": \"auth !=\n null\", \"list\": {\".indexOn\": \"a\"}}}"

  @Test("77. Rules: GET raw and strict, PUT, bad PUT: 400 with line and column, old rules stay")
  func rules() async throws {
    let strict = #"{"rules":{".read":"auth !=\n null","list":{".indexOn":"a"}}}"#
    try await APIServer.run { server in
      let path = "/.settings/rules.json"
      try await server.expect(
        .init("GET", path, status: 401), .init("PUT", path, Self.source, status: 401),
        .init(
          "GET", path, headers: APIServer.admin, is: "{\n  \"rules\": {\n    \".read\": true,\n    \".write\": true\n  }\n}\n"),
        .init("GET", path + "?format=strict", headers: APIServer.admin, is: #"{"rules":{".read":true,".write":true}}"#),
        .init("PUT", path + "?dryRun=true", Self.source, headers: APIServer.admin, is: #"{"status":"ok"}"#),
        .init("GET", path + "?format=strict", headers: APIServer.admin, is: #"{"rules":{".read":true,".write":true}}"#),
        .init("PUT", path + "?ns=game", Self.source, headers: APIServer.admin, is: #"{"status":"ok"}"#),
        .init(
          "GET", path, headers: APIServer.admin, is: Self.source, having: ["content-type": "application/json; charset=utf-8"]),
        .init("GET", path + "?format=strict", headers: APIServer.admin, is: strict),
        .init("GET", path + "?format=xml", headers: APIServer.admin, status: 400),
        .init(
          "PUT", path, "", headers: APIServer.admin, status: 400,
          is: #"{"error":"1:1: Parse error. The rules end too early: a value is missing.\n"}"#),
        .init(
          "PUT", path, "{\n  \"rules\": {\".wirte\": true}}", headers: APIServer.admin, status: 400,
          is: #"{"error":"2:13: Unknown rule \".wirte\"; there are .read, .write, .validate and .indexOn.\n"}"#),
        .init("PUT", path + "?dryRun=yes", Self.source, headers: APIServer.admin, status: 400),
        .init("GET", path, headers: APIServer.admin, is: Self.source),
        .init("GET", path + "?ns=other&format=strict", headers: APIServer.admin, is: #"{"rules":{".read":true,".write":true}}"#)
      )
    }
  }

  @Test("In production the rules of a database that has none deny everything, and unknown databases are unknown")
  func production() async throws {
    let access = AccessPolicy(mode: .production, adminTokens: [AdminToken(name: "ops", secret: "secret")])
    let admin = ["Authorization": "Bearer secret"]
    try await APIServer.run(access: access) { server in
      try await server.expect(
        .init("GET", "/.settings/rules.json?ns=unknown", headers: admin, status: 404),
        .init("PUT", "/.settings/rules.json?ns=unknown", Self.source, headers: admin, status: 404),
        .init("POST", "/admin/v1/namespaces", #"{"name":"known"}"#, headers: admin),
        .init(
          "GET", "/.settings/rules.json?ns=known&format=strict", headers: admin,
          is: #"{"rules":{".read":false,".write":false}}"#),
        .init("PUT", "/.settings/rules.json?ns=known", Self.source, headers: admin, is: #"{"status":"ok"}"#))
      #expect(server.database.namespace(named: "unknown") == nil)
    }
  }

  @Test("The indexes are listed with their state")
  func indexes() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/list.json", #"{"x":{"a":1},"y":{"a":2}}"#),
        .init("PUT", "/.settings/rules.json", Self.source, headers: APIServer.admin),
        .init("GET", "/admin/v1/indexes", status: 401),
        .init("GET", "/admin/v1/indexes?ns=unknown", headers: APIServer.admin, status: 404))
      // Building takes its steps in the writer's queue, between requests.
      var row: JSON?
      for _ in 0..<200 {
        row = try await server.send("GET", "/admin/v1/indexes", headers: APIServer.admin).json?["indexes"]?.array?.first
        if row?["state"]?.string == "ready" { break }
        try await server.expect(
          .init("PUT", "/tick.json", "1", headers: APIServer.admin), .init("PUT", "/tick.json", "2", headers: APIServer.admin))
      }
      #expect(row == ["namespace": "game", "path": "/list", "index": "a", "state": "ready", "childrenIndexed": 2])
    }
  }

  @Test("80. Export and import round-trip priorities; an import that is too large for one commit goes in several")
  func importing() async throws {
    let small = WriteLimits(leavesMax: 20, bytesMax: 4000)
    var members = (0..<40).map {
      #""k\#($0 + 100)":{"a":{".value":\#($0),".priority":"p\#($0)"},"b":"text \#($0)",".priority":\#($0)}"#
    }
    members.append(#""list":{"0":true,"1":false}"#)
    members.append(#"".priority":"root""#)
    let export = "{" + members.joined(separator: ",") + "}"
    let importing = "disableTriggers=true&writeSizeLimit=unlimited"
    let tooLarge = "Data to write exceeds the maximum size that can be modified with a single request."
    try await APIServer.run(limits: small) { server in
      try await server.expect(
        .init(
          "PUT", "/.json?disableTriggers=true", export, headers: APIServer.admin, status: 400, is: APIServer.error(tooLarge)),
        .init("PUT", "/.json?\(importing)", export, status: 401),
        .init("PUT", "/.json?ns=copy&\(importing)", export, headers: APIServer.admin),
        .init("GET", "/.json?ns=copy&format=export", headers: APIServer.admin, is: export),
        // Again, over what is there; and with less.
        .init("PUT", "/.json?ns=copy&\(importing)&print=silent", export, headers: APIServer.admin, status: 204),
        .init("GET", "/.json?ns=copy&format=export", headers: APIServer.admin, is: export),
        .init("PUT", "/.json?ns=copy&\(importing)", #"{"a":1}"#, headers: APIServer.admin, is: #"{"a":1}"#),
        .init("GET", "/.json?ns=copy&format=export", is: #"{"a":1}"#))
      // A removal of as much goes in pieces too, if it may.
      try await server.expect(
        .init("PUT", "/.json?ns=old&\(importing)&print=silent", export, headers: APIServer.admin, status: 204),
        .init("DELETE", "/.json?ns=old&disableTriggers=true", headers: APIServer.admin, status: 400),
        .init("DELETE", "/.json?ns=old&writeSizeLimit=unlimited", status: 401),
        .init("GET", "/.json?ns=old&format=export", headers: APIServer.admin, is: export),
        .init("DELETE", "/.json?ns=old&\(importing)", headers: APIServer.admin, is: "null"),
        .init("PUT", "/.json?ns=old&\(importing)&print=silent", export, headers: APIServer.admin, status: 204),
        .init("PATCH", "/.json?ns=old&\(importing)", "null", headers: APIServer.admin, is: "null"),
        .init("GET", "/.json?ns=old", is: "null"))
      // What cannot be written is refused before anything is removed.
      let deep = String(repeating: #"{"d":"#, count: 33) + export + String(repeating: "}", count: 33)
      try await server.expect(
        .init("PUT", "/.json?ns=copy&\(importing)", deep, headers: APIServer.admin, status: 400),
        .init("GET", "/.json?ns=copy", is: #"{"a":1}"#),
        .init(
          "GET", "/.inspect/databases.json?ns=copy", headers: APIServer.admin,
          is: #"[{"name":"copy"},{"name":"old"}]"#),
        .init("GET", "/.inspect/databases.json", status: 401))
    }
  }

  @Test("A body that is too large for the event loop is written and echoed like any other")
  func largeBody() async throws {
    try await APIServer.run { server in
      let text = String(repeating: "x", count: 600_000)
      let body = "{\"a\":\"\(text)\",\"b\":\"\(text)\"}"
      try await server.expect(
        .init("PUT", "/large.json", body, is: body), .init("GET", "/large.json", is: body),
        .init("PATCH", "/large.json", body, is: body), .init("PUT", "/large.json", body + "}", status: 400),
        .init("PUT", "/large.json?print=silent", body, headers: ["If-Match": "stale"], status: 400),
        .init("PUT", "/large.json", body, headers: ["If-Match": "stale"], status: 412))
    }
  }

  @Test("A read has a timeout; one that takes longer is refused")
  func timeouts() async throws {
    try await APIServer.run { server in
      let many = "{" + (0..<3000).map { "\"k\($0 + 10_000)\":\($0)" }.joined(separator: ",") + "}"
      try await server.expect(.init("PUT", "/big.json", many))
      for timeout in ["0ms", "-1s", "16min", "5", "s", "1h", "1.5s", "99999999999999999999ms"] {
        try await server.expect(.init("GET", "/big.json?timeout=\(timeout)", status: 400))
      }
      try await server.expect(
        .init("GET", "/big.json?timeout=15min", is: many), .init("GET", "/big/k10000.json?timeout=3ms", is: "0"))
      // What is over at once is refused with the words for it.
      let namespace = try #require(server.database.namespace(named: "game"))
      var bounds = ReadBounds.standard
      bounds.isUnwanted = { true }
      let unwanted = bounds
      #expect { () throws -> Void in
        _ = try server.database.engine.read { (snapshot) throws(TreeReadError) in
          try server.database.reader.node(at: "big", in: namespace, of: snapshot, within: unwanted)
        }
      } throws: { error in
        if case .stopped? = error as? TreeReadError { true } else { false }
      }
    }
  }
}
