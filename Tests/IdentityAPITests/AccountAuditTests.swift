import ServerTestSupport
import StorageCore
import Testing
import TreeModel

@testable import APISupport

/// Who was refused is on record, and cannot fill it.
struct AccountAuditTests {
  private func rows(_ server: APIServer, _ query: String = "result=refused&limit=100") async throws -> [JSON] {
    let response = try await server.send("GET", "/admin/v1/audits?\(query)", headers: APIServer.admin)
    return response.json?["actions"]?.array ?? []
  }

  @Test("A stranger at the administrators' methods of the Identity Toolkit is in the audit log")
  func identity() async throws {
    try await APIServer.run(accounts: .production) { server in
      let client = IdentityClient(server: server)
      let path = "/identitytoolkit.googleapis.com/v1/projects/game"
      let secret = "hunter2hunter2"
      let body: JSON = ["users": [["localId": "x", "passwordHash": .string(secret)]]]
      let stranger = ["Authorization": "Bearer nobody"]
      #expect(try await client.send("POST", "\(path)/accounts:batchCreate", body, headers: stranger).status == 401)
      #expect(try await client.send("POST", "\(path)/accounts:batchDelete?key=k", body).status == 403)
      #expect(try await client.send("GET", "\(path)/accounts:batchGet?key=k").status == 403)
      #expect(try await client.send("POST", "\(path)/accounts:update", body, headers: stranger).status == 401)
      let settings = "/v2/projects/game/config?key=k"
      #expect(try await client.send("PATCH", settings, ["signIn": ["allowDuplicateEmails": true]]).status == 403)
      // A player without a key, or with a wrong password, is no matter for this log.
      #expect(try await client.send("POST", "/v1/accounts:signUp", [:]).status == 403)
      let rows = try await rows(server)
      #expect(
        rows.compactMap { $0["action"]?.string } == [
          "accounts.configure", "accounts.update", "accounts.batchGet", "accounts.batchDelete", "accounts.batchCreate",
        ])
      for row in rows {
        #expect(row["actor"] == "anonymous")
        #expect(!row.compact.contains(secret))
      }
    }
  }

  @Test("Strangers write a few rows a minute, without what they sent; the rest is counted, and said in the next row")
  func bounded() async throws {
    try await APIServer.run { server in
      let before = try server.revision()
      for number in 0..<25 {
        let answer = try await server.send(
          "POST", "/admin/v1/ledger/reverse?note=padding", #"{"sequence":\#(number),"reason":"filling"}"#)
        #expect(answer.status == 401)
      }
      let rows = try await rows(server)
      #expect(rows.count == AuditTrail.unauthenticatedPerMinute)
      for row in rows { #expect(!row.compact.contains("filling") && !row.compact.contains("padding")) }
      #expect(try await server.send("GET", "/metrics").body.contains("doubloon_audit_left_out_total 15"))
      server.clock.advance(by: 60_000)
      _ = try await server.send("POST", "/admin/v1/ledger/reverse", "{}")
      let next = try await self.rows(server, "result=refused&limit=1")
      #expect(next.first?.compact.contains("\"leftOutBefore\":15") == true, "\(next)")
      // An administrator's own refusals are all there, with what was asked.
      for _ in 0..<12 {
        _ = try await server.send(
          "POST", "/admin/v1/ledger/reverse", #"{"sequence":9,"reason":"mine"}"#, headers: APIServer.admin)
      }
      #expect(try await self.rows(server, "actor=admin&limit=100").filter { $0.compact.contains("mine") }.count == 12)
      #expect(before == 0)
    }
  }
}
