import APISupport
import HTTPServer
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import ServerApp

/// Who may begin a session of the console with a player's account, how it ends, and what wants the credential once more.
struct ConsoleProofTests {
  private static let page = ["X-Doubloon-Console": "1", "Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"]

  private static func headers(_ answer: RawResponse) throws -> [String: String] {
    let cookie = try #require(answer["set-cookie"], "\(answer.body)")
    let csrf = try #require(answer.json?["csrf"]?.string)
    return page.merging(["Cookie": String(cookie.prefix { $0 != ";" }), "X-Doubloon-CSRF": csrf]) { $1 }
  }

  /// A server in production whose console takes players with the claim `staff`, and one of them.
  private static func run(
    requiresSecondFactor: Bool = false, claims: String = #"{"staff":"support"}"#,
    _ test: (APIServer, IdentityClient, _ uid: String) async throws -> Void
  ) async throws {
    var console = ConsoleSettings()
    console.claim = "staff"
    console.requiresSecondFactor = requiresSecondFactor
    let access = AccessPolicy(mode: .production, adminTokens: [AdminToken(name: "ann", secret: "owner")])
    try await APIServer.run(access: access, accounts: .production, console: console) { server in
      _ = try await server.database.openNamespace(named: "game")
      let client = IdentityClient(server: server)
      let uid = try await client.player("sue@x.io").text("localId")
      let given = try await server.send(
        "PATCH", "/admin/v1/accounts/\(uid)", #"{"claims":\#(claims)}"#, headers: APIServer.admin)
      #expect(given.status == 200, "\(given.body)")
      try await test(server, client, uid)
    }
  }

  private static func signIn(_ server: APIServer, _ client: IdentityClient) async throws -> RawResponse {
    let player = try await client.call("accounts:signInWithPassword", ["email": "sue@x.io", "password": "secret1"])
    let body = #"{"idToken":"\#(player.text("idToken"))"}"#
    return try await server.send("POST", "/admin/v1/session", body, headers: page)
  }

  @Test("A player whose account has a role by its claim signs in with it, as that user and with that role only")
  func player() async throws {
    try await Self.run { server, client, uid in
      let ways = try await server.send("GET", "/admin/v1/session", headers: Self.page).json?["ways"]?.array
      #expect(ways == ["key", "account"])
      let answer = try await Self.signIn(server, client)
      #expect(answer.json?["actor"]?.string == "user:\(uid)" && answer.json?["role"] == "support", "\(answer.body)")
      let headers = try Self.headers(answer)
      #expect(try await server.send("GET", "/admin/v1/namespaces", headers: headers).status == 200)
      #expect(try await server.send("POST", "/admin/v1/accounts/\(uid)/enable", "{}", headers: headers).status == 200)
      let refused = try await server.send("POST", "/admin/v1/namespaces", #"{"name":"x"}"#, headers: headers)
      #expect(refused.json?["code"] == "role_needed")
      let audit = try await server.send("GET", "/admin/v1/audits?actor=user:\(uid)", headers: APIServer.admin)
      #expect(audit.body.contains("accounts.enable") && audit.body.contains("session.open"), "\(audit.body)")
    }
  }

  @Test(
    "It is out at the next request when the account is disabled or deleted, its sessions are ended, or the claim changes",
    arguments: [
      ("POST", "/disable", "{}"), ("DELETE", "", nil), ("DELETE", "/sessions", nil), ("PATCH", "", #"{"claims":{}}"#),
      ("PATCH", "", #"{"claims":{"staff":"admin"}}"#), ("PATCH", "", #"{"password":"another1"}"#),
    ] as [(String, String, String?)])
  func ends(_ method: String, _ path: String, _ body: String?) async throws {
    try await Self.run { server, client, uid in
      // Another second than that in which the account got its password; what ends the session comes in the sign-in's own.
      server.clock.advance(by: 2000)
      let headers = try Self.headers(try await Self.signIn(server, client))
      #expect(try await server.send("GET", "/admin/v1/namespaces", headers: headers).status == 200)
      let done = try await server.send(method, "/admin/v1/accounts/\(uid)\(path)", body, headers: APIServer.admin)
      #expect(done.status == 200, "\(done.body)")
      let after = try await server.send("GET", "/admin/v1/namespaces", headers: headers)
      #expect(after.status == 401, "\(after.body)")
    }
  }

  @Test(
    "Nobody signs in by another claim, another word, or without the second factor that is asked for",
    arguments: [
      (false, #"{"role":"admin"}"#), (false, #"{"staff":"owner"}"#), (false, #"{"staff":true}"#), (false, "{}"),
      (true, #"{"staff":"admin"}"#),
    ])
  func refused(requiresSecondFactor: Bool, claims: String) async throws {
    try await Self.run(requiresSecondFactor: requiresSecondFactor, claims: claims) { server, client, _ in
      let answer = try await Self.signIn(server, client)
      let unknown = try await server.send("POST", "/admin/v1/session", #"{"idToken":"a.b.c"}"#, headers: Self.page)
      #expect(answer.status == 401 && answer.body == unknown.body, "\(answer.body) \(unknown.body)")
    }
  }

  @Test("A sign-in of more than five minutes ago opens no session, and no credential goes with another")
  func old() async throws {
    try await Self.run { server, client, _ in
      let player = try await client.call("accounts:signInWithPassword", ["email": "sue@x.io", "password": "secret1"])
      let body = #"{"idToken":"\#(player.text("idToken"))"}"#
      server.clock.advance(by: 301_000)
      #expect(try await server.send("POST", "/admin/v1/session", body, headers: Self.page).status == 401)
      for both in [#"{"key":"owner","idToken":"x"}"#, "{}", #"{"as":"account"}"#] {
        #expect(try await server.send("POST", "/admin/v1/session", both, headers: Self.page).status == 400, "\(both)")
      }
    }
  }

  @Test("Where no claim is named, or tokens are not signed, no player's account opens a session")
  func off() async throws {
    var console = ConsoleSettings()
    for claim in [nil, "staff"] {
      console.claim = claim
      try await APIServer.run(accounts: .development, console: console) { server in
        let client = IdentityClient(server: server)
        let player = try await client.player("sue@x.io")
        let claims = #"{"claims":{"staff":"admin"}}"#
        _ = try await server.send("PATCH", "/admin/v1/accounts/\(player.text("localId"))", claims, headers: APIServer.admin)
        let answer = try await Self.signIn(server, client)
        #expect(answer.status == 401, "\(answer.body)")
      }
    }
  }

  /// The routes that cannot be undone.
  private static let final: Set<String> = [
    "POST /admin/v1/accounts/{uid}/erase", "POST /admin/v1/accounts/{uid}/merge", "DELETE /admin/v1/accounts/{uid}",
    "DELETE /admin/v1/namespaces/{name}", "POST /admin/v1/log/prune", "DELETE /admin/v1/service-accounts/{name}",
    "PUT /admin/v1/rules", "POST /admin/v1/rules/rollback",
  ]

  @Test("What cannot be undone wants a credential of the last half hour from a page; signing in again is one")
  func proof() async throws {
    let declared = Set(ServerSurfaces.adminHeads.filter(\.needsProof).map(RoleTests.name))
    #expect(Self.final.isSubset(of: declared))
    try await APIServer.run(accounts: .development) { server in
      let client = IdentityClient(server: server)
      let uid = try await client.player("sue@x.io").text("localId")
      func open(_ more: [String: String] = [:]) async throws -> [String: String] {
        let asked = Self.page.merging(more) { $1 }
        return try Self.headers(try await server.send("POST", "/admin/v1/session", #"{"as":"owner"}"#, headers: asked))
      }
      let active = ["X-Doubloon-Active": "1"]
      let first = try await open().merging(active) { $1 }
      for _ in 0..<2 {
        server.clock.advance(by: 20 * 60_000)
        #expect(try await server.send("GET", "/admin/v1/namespaces", headers: first).status == 200)
      }
      let refused = try await server.send("DELETE", "/admin/v1/accounts/\(uid)", headers: first)
      #expect(refused.status == 403 && refused.json?["code"] == "proof_needed", "\(refused.body)")
      #expect(try await server.send("POST", "/admin/v1/accounts/\(uid)/disable", "{}", headers: first).status == 200)
      let second = try await open(["Cookie": first["Cookie"] ?? ""])
      #expect(try await server.send("GET", "/admin/v1/namespaces", headers: first).status == 401)
      #expect(try await server.send("DELETE", "/admin/v1/accounts/\(uid)?reason=asked", headers: second).status == 200)
      let audit = try await server.send("GET", "/admin/v1/audits?action=accounts.delete", headers: APIServer.admin).body
      #expect(audit.contains("asked") && audit.contains("show the credential"), "\(audit)")
    }
  }
}
