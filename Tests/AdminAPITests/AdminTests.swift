@testable import HTTPServer
import NIOHTTP1
@testable import ServerApp
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

/// The administrators' surface.
struct AdminTests {
  private static func admin(_ method: String, _ path: String, _ body: String? = nil, status: Int = 200) -> ExchangeRow {
    ExchangeRow(method, "/admin/v1/\(path)", body, headers: APIServer.admin, status: status)
  }

  @Test("Without credentials nothing is shown and nothing is done; attempts are recorded")
  func credentials() async throws {
    try await APIServer.run { server in
      for route in ServerSurfaces.adminHeads where route.role != nil {
        let path = route.template.text.filter { !"{}.".contains($0) }
        let response = try await server.send(route.method.rawValue, path, "{}")
        #expect(response.status == 401, "\(route.method) \(path)")
        #expect(response.json?["code"] == "unauthenticated")
        // Strangers write a few rows a minute only.
        server.clock.advance(by: 60_000)
      }
      let tried = Set(ServerSurfaces.adminHeads.compactMap(\.audit))
      let actions =
        try await server.send("GET", "/admin/v1/audit?limit=1000", headers: APIServer.admin).json?["actions"]?.array ?? []
      #expect(Set(actions.compactMap { $0["action"]?.string }) == tried)
      #expect(actions.allSatisfy { $0["actor"] == "anonymous" && $0["result"] != "ok" })
    }
  }

  @Test("The index lists every route; unknown ones say so; a wrong method says which are right")
  func index() async throws {
    try await APIServer.run { server in
      let index = try await server.send("GET", "/admin/v1", headers: APIServer.admin)
      #expect(index.json?.array?.count == ServerSurfaces.adminHeads.count)
      let unknown = try await server.send("GET", "/admin/v1/nothing", headers: APIServer.admin)
      #expect(unknown.status == 404 && unknown.json?["code"] == "unknown_route")
      #expect(unknown.error?.contains("GET /admin/v1") == true)
      let wrong = try await server.send("DELETE", "/admin/v1/functions", headers: APIServer.admin)
      #expect(wrong.status == 405 && wrong["allow"] == "GET")
      let stranger = try await server.send("GET", "/users/bob")
      #expect(
        stranger.status == 404 && stranger.error?.contains("append .json to your request URI to use the REST API") == true)
    }
  }

  @Test("A transfer is made once for its key, shown, reversed, audited and verified")
  func ledger() async throws {
    try await APIServer.run { server in
      let transfer = #"{"debit":"issuance:gift","credit":"user:bob","amount":50,"key":"gift/bob","reason":"sorry"}"#
      try await server.expect(.init("PUT", "/users/bob/name.json", #""Bob""#))
      let first = try await server.send("POST", "/admin/v1/ledger/transfers", transfer, headers: APIServer.admin)
      #expect(first.status == 200 && first.json?["repeated"] == false && first.json?["entry"]?["sequence"] == 1)
      let second = try await server.send("POST", "/admin/v1/ledger/transfer", transfer, headers: APIServer.admin)
      #expect(second.status == 200 && second.json?["repeated"] == true)
      #expect(try await server.value("/users/bob/inventory/pieces_of_eight.json") == "50")
      try await server.expect(
        Self.admin("POST", "ledger/transfer", #"{"debit":"a","credit":"b","amount":1}"#, status: 400),
        Self.admin("POST", "ledger/transfer", #"{"debit":"a","credit":"b","amount":0,"key":"z"}"#, status: 400),
        Self.admin("POST", "ledger/transfer", transfer.replacingOnce("50", "60"), status: 409),
        Self.admin("POST", "ledger/transfer", "[]", status: 400), Self.admin("POST", "ledger/transfer", "{", status: 400),
        Self.admin("POST", "ledger/reverse", #"{"sequence":99,"reason":"x"}"#, status: 404),
        Self.admin("POST", "ledger/reverse", #"{"sequence":1}"#, status: 400),
        Self.admin("POST", "ledger/reverse", #"{"sequence":1,"reason":"mistake"}"#),
        Self.admin("GET", "ledger/balance", status: 400),
        Self.admin("GET", "ledger/statement?account=user:bob&limit=0", status: 400))
      let balance = try await server.send("GET", "/admin/v1/ledger/balance?account=user:bob", headers: APIServer.admin)
      #expect(balance.json?["balance"] == 0)
      let statement = try await server.send("GET", "/admin/v1/ledger/statement?account=user:bob", headers: APIServer.admin)
      #expect(statement.json?["entries"]?.array?.compactMap { $0["sequence"]?.int } == [2, 1])
      let report = try await server.send("GET", "/admin/v1/ledger/verify", headers: APIServer.admin)
      #expect(report.json?["sound"] == true && report.json?["entries"] == 2)
      let byKey = try await server.send("GET", "/admin/v1/ledger/entries?key=gift/bob", headers: APIServer.admin)
      #expect(byKey.json?["entries"]?.array?.count == 1)
    }
  }

  @Test("A hold is released in part, another voided; each ends once")
  func holds() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/users/bob/inventory/pieces_of_eight.json", "100"),
        Self.admin("POST", "ledger/holds", #"{"from":"user:bob","owner":"bob","amount":40,"key":"h1"}"#),
        Self.admin("POST", "ledger/holds", #"{"from":"user:bob","owner":"bob","amount":30,"key":"h2"}"#),
        .init("GET", "/users/bob/inventory/pieces_of_eight.json", is: "30"),
        Self.admin("POST", "ledger/holds/2/release", #"{"to":"user:shop","amount":10}"#),
        Self.admin("POST", "ledger/holds/3/void"),
        Self.admin("POST", "ledger/holds/3/release", #"{"to":"user:shop"}"#, status: 409),
        Self.admin("POST", "ledger/holds/x/void", status: 400), Self.admin("POST", "ledger/holds/99/void", status: 404),
        .init("GET", "/users/bob/inventory/pieces_of_eight.json", is: "90"))
    }
  }

  @Test("Namespaces are listed and, in development, forgotten; the clock moves forward")
  func namespaces() async throws {
    try await APIServer.run { server in
      try await server.expect(.init("PUT", "/a.json?ns=one", "1"), .init("PUT", "/a.json?ns=two", "1"))
      let list = try await server.send("GET", "/.inspect/databases.json", headers: APIServer.admin)
      #expect(list.body == #"[{"name":"one"},{"name":"two"}]"#)
      try await server.expect(
        .init("GET", "/.inspect/databases.json", status: 401), Self.admin("DELETE", "namespaces/one"),
        Self.admin("DELETE", "namespaces/one", status: 404), .init("GET", "/a.json?ns=one", is: "null"),
        .init("GET", "/a.json?ns=two", is: "1"), Self.admin("POST", "clock", #"{"advance":-1}"#, status: 400),
        Self.admin("POST", "clock", #"{"advance":1000}"#))
      #expect(server.clock.now() == APIServer.start + 1000)
      let status = try await server.send("GET", "/admin/v1/status", headers: APIServer.admin)
      #expect(status.json?["mode"] == "development" && status.json?["time"]?.int == APIServer.start + 1000)
      let rows = try await server.send("GET", "/admin/v1/namespaces", headers: APIServer.admin).json?["namespaces"]?.array ?? []
      #expect(rows.first { $0["name"] == "two" }?["revision"] == 1)
    }
  }

  @Test("A backup is a file of the server's; relative paths and devices are refused")
  func backup() async throws {
    try await APIServer.run { server in
      let folder = TemporaryFolder()
      try await server.expect(
        .init("PUT", "/a.json", "1"), Self.admin("POST", "backup", #"{"path":"copy.db"}"#, status: 400),
        Self.admin("POST", "backup", #"{"path":"/dev/null"}"#, status: 400),
        Self.admin("POST", "backup", #"{"path":"\#(folder.file("x"))","recipient":"nobody"}"#, status: 400),
        Self.admin("POST", "backup", #"{"path":"\#(folder.file("x"))","configuration":true}"#, status: 400),
        Self.admin("POST", "backup", #"{"path":"\#(folder.file("bare.db"))","bare":true}"#),
        Self.admin("POST", "backup", #"{"path":"\#(folder.file("copy.db"))"}"#))
      #expect(try !DiskFiles.bytes(folder.file("copy.db")).isEmpty && DiskFiles.bytes(folder.file("x")).isEmpty)
    }
  }

  @Test("What administrators do is recorded, without secrets")
  func audit() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("POST", "/admin/v1/clock?access_token=owner", #"{"advance":5}"#),
        Self.admin("POST", "ledger/reverse", #"{"sequence":9,"reason":"x"}"#, status: 404))
      let actions = try await server.send("GET", "/admin/v1/audit", headers: APIServer.admin)
      let rows = actions.json?["actions"]?.array ?? []
      #expect(rows.map { $0["action"]?.string } == ["ledger.reverse", "clock.advance"])
      #expect(rows.last?["result"] == "ok" && rows.last?["actor"] == "admin:owner")
      #expect(rows.last?["detail"]?["body"]?["advance"] == 5)
      #expect(!actions.body.contains("access_token"))
    }
  }
}

extension String {
  /// The text with the first `old` replaced; Foundation's method is not here.
  fileprivate func replacingOnce(_ old: String, _ new: String) -> String {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(old) { return self[..<start] + new + self[index(start, offsetBy: old.count)...] }
      start = index(after: start)
    }
    return self
  }
}

/// Who did what: the audit log.
struct AuditRouteTests {
  private func rows(_ server: APIServer, _ query: String) async throws -> (actions: [String], next: Int64?) {
    let response = try await server.send("GET", "/admin/v1/audits?\(query)", headers: APIServer.admin)
    #expect(response.status == 200, "\(response.body)")
    let rows = response.json?["actions"]?.array ?? []
    return (rows.compactMap { $0["action"]?.string }, response.json?["next"]?.int)
  }

  @Test("Done and refused actions are listed with who and what, by filters, page by page")
  func listing() async throws {
    try await APIServer.run { server in
      _ = try await server.send("POST", "/admin/v1/namespaces", #"{"name":"game"}"#, headers: APIServer.admin)
      _ = try await server.send("POST", "/admin/v1/clock", #"{"advance":60000}"#, headers: APIServer.admin)
      _ = try await server.send(
        "POST", "/admin/v1/ledger/reverse", #"{"sequence":9,"reason":"x"}"#, headers: APIServer.admin)
      _ = try await server.send("POST", "/admin/v1/ledger/reverse", #"{"sequence":9,"reason":"x"}"#)
      let all = ["ledger.reverse", "ledger.reverse", "clock.advance", "namespaces.create"]
      #expect(try await rows(server, "").actions == all)
      for (query, expected) in [
        ("action=ledger", Array(all[..<2])), ("action=led", []), ("action=clock.advance", [all[2]]),
        ("actor=anonymous", [all[0]]), ("actor=admin", Array(all[1...])), ("actor=admin:owner&result=ok", Array(all[2...])),
        ("result=refused", Array(all[..<2])), ("since=\(APIServer.start + 60000)", Array(all[..<3])),
        ("until=\(APIServer.start)", [all[3]]),
      ] {
        #expect(try await rows(server, query).actions == expected, "\(query)")
      }
      let first = try await rows(server, "limit=3")
      #expect(first.actions == Array(all[..<3]))
      let next = try #require(first.next)
      let second = try await rows(server, "limit=3&before=\(next)")
      #expect(second.actions == [all[3]] && second.next == nil)
    }
  }
}
