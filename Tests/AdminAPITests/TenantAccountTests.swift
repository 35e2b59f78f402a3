import ServerTestSupport
import Testing
import TreeModel

/// Accounts of tenants, as administrators see them.
struct TenantAccountTests {
  private func send(_ server: APIServer, _ verb: String, _ path: String, _ body: String? = nil) async throws
    -> (status: Int, json: JSON)
  {
    let response = try await server.send(
      verb, "/admin/v1/accounts" + path, body,
      headers: ["Authorization": "Bearer owner", "Content-Type": "application/json"])
    return (response.status, response.json ?? .null)
  }

  private func tenant(_ client: IdentityClient) async throws -> String {
    try await client.send(
      "POST", "/identitytoolkit.googleapis.com/v2/projects/game/tenants", ["allowPasswordSignup": true],
      headers: IdentityClient.owner
    ).text("tenantId")
  }

  @Test("all accounts are listed with their tenants, or those of one; one is made at a tenant, and stays there")
  func listing() async throws {
    try await APIServer.run(accounts: .development) { server in
      let client = IdentityClient(server: server)
      let (ape, bee) = (try await tenant(client), try await tenant(client))
      for (uid, tenant) in [("ann", ape), ("bob", bee)] {
        let made = try await send(
          server, "POST", "", #"{"uid":"\#(uid)","email":"one@x.io","password":"secret1","tenant":"\#(tenant)"}"#)
        #expect(made.status == 200 && made.json["tenantId"]?.string == tenant, "\(made.json)")
      }
      #expect(try await send(server, "POST", "", #"{"uid":"cid","email":"one@x.io"}"#).status == 200)
      func uids(_ query: String) async throws -> [String] {
        (try await send(server, "GET", query).json["accounts"]?.array ?? []).compactMap { $0["localId"]?.string }
      }
      #expect(try await uids("") == ["ann", "bob", "cid"])
      #expect(try await uids("?tenant=\(ape)") == ["ann"])
      #expect(try await uids("?tenant=\(bee)&email=one@x.io") == ["bob"])
      #expect(try await uids("?tenant=\(bee)&q=one") == ["bob"])
      #expect(try await uids("?email=one@x.io") == ["cid"])
      #expect(try await send(server, "GET", "?tenant=nowhere").status == 400)
      #expect(try await send(server, "PATCH", "/ann", #"{"tenant":"\#(bee)"}"#).status == 400)
      let renamed = try await send(server, "PATCH", "/ann", #"{"displayName":"Ann"}"#)
      #expect(renamed.json["displayName"] == "Ann" && renamed.json["tenantId"]?.string == ape)
      #expect(try await send(server, "POST", "/bob/disable", "{}").json["disabled"] == true)
      let signIn = try await client.call(
        "accounts:signInWithPassword", ["email": "one@x.io", "password": "secret1", "tenantId": .string(bee)])
      #expect(signIn.error == "USER_DISABLED")
    }
  }

  @Test("accounts of two tenants are not merged, and nothing of them changes")
  func merging() async throws {
    try await APIServer.run(accounts: .development) { server in
      let client = IdentityClient(server: server)
      let (ape, bee) = (try await tenant(client), try await tenant(client))
      for (uid, tenant) in [("ann", ape), ("bob", bee)] {
        #expect(try await send(server, "POST", "", #"{"uid":"\#(uid)","tenant":"\#(tenant)"}"#).status == 200)
      }
      for (path, reason) in [("/ann/merge/preview", ""), ("/ann/merge", #","reason":"test""#)] {
        let answer = try await send(server, "POST", path, #"{"into":"bob","balances":true\#(reason)}"#)
        #expect(answer.status == 409 && answer.json["code"] == "other_tenant", "\(path): \(answer.json)")
      }
      #expect(try await send(server, "GET", "/ann").json["disabled"] == false)
    }
  }
}
