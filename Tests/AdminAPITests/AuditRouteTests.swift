import ServerTestSupport
import TestSupport
import Testing
import TreeModel

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
