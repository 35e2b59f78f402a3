import APISupport
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// Accounts that administrators make and change, and the sessions of their players.
struct AccountEditingTests {
  private func send(_ server: APIServer, _ method: String, _ path: String, _ body: String? = nil) async throws -> RawResponse {
    try await server.send(method, "/admin/v1/accounts\(path)", body, headers: APIServer.admin)
  }

  @Test("An account is made with all that is said of it, and its player signs in")
  func make() async throws {
    try await APIServer.run(accounts: .development) { server in
      let client = IdentityClient(server: server)
      _ = try await client.anonymous()
      let body = """
        {"uid":"ann","email":"Ann@x.io","password":"secret1","displayName":"Ann","phoneNumber":"+431234567",
        "emailVerified":true,"claims":{"guild":"pirates"},"reason":"by letter"}
        """
      let made = try await send(server, "POST", "", body)
      #expect(made.status == 200, "\(made.body)")
      #expect(made.json?["localId"] == "ann" && made.json?["email"] == "ann@x.io" && made.json?["displayName"] == "Ann")
      #expect(made.json?["emailVerified"] == true && made.json?["phoneNumber"] == "+431234567")
      let player = try await client.call("accounts:signInWithPassword", ["email": "ann@x.io", "password": "secret1"])
      #expect(player.claims["guild"] == "pirates")
      let again = try await send(server, "POST", "", #"{"email":"ann@x.io"}"#)
      #expect(again.status == 409 && again.json?["code"] == "email_taken")
      #expect(try await send(server, "POST", "", #"{"uid":"ann"}"#).json?["code"] == "uid_taken")
      let audit = try await server.send("GET", "/admin/v1/audits?action=accounts.create", headers: APIServer.admin).body
      #expect(audit.contains("by letter") && audit.contains("guild"))
      for secret in ["secret1", "ann@x.io", "Ann@x.io", "+431234567"] { #expect(!audit.contains(secret), "\(secret)") }
    }
  }

  @Test("Accounts that are taken along are those of the list, and who took them is on record, without whom was looked for")
  func export() async throws {
    try await APIServer.run(accounts: .development) { server in
      _ = try await IdentityClient(server: server).anonymous()
      for body in [#"{"uid":"bob","email":"bob@x.io"}"#, #"{"uid":"eve","email":"eve@x.io"}"#] {
        #expect(try await send(server, "POST", "", body).status == 200)
      }
      let taken = try await send(server, "POST", "/export", #"{"q":"eve@x","limit":10}"#)
      let listed = try await send(server, "GET", "?q=eve@x&limit=10")
      #expect(taken.status == 200 && taken.json?["accounts"]?.array?.count == 1 && taken.json == listed.json)
      let audit = try await server.send("GET", "/admin/v1/audits?action=accounts.export", headers: APIServer.admin)
      #expect(audit.json?["actions"]?.array?.count == 1 && !audit.body.contains("eve@x"), "\(audit.body)")
    }
  }

  @Test("A change leaves what it does not name; empty texts and empty claims take away")
  func change() async throws {
    try await APIServer.run(accounts: .development) { server in
      _ = try await IdentityClient(server: server).anonymous()
      #expect(try await send(server, "POST", "", #"{"uid":"bob","email":"bob@x.io","displayName":"Bob"}"#).status == 200)
      for (body, member, expected) in [
        (#"{"emailVerified":true}"#, "emailVerified", true), (#"{"displayName":""}"#, "displayName", nil),
        (#"{"claims":{"level":7}}"#, "customAttributes", #"{"level":7}"#), (#"{"phoneNumber":"+431"}"#, "phoneNumber", "+431"),
        (#"{"claims":{}}"#, "customAttributes", nil), (#"{"phoneNumber":""}"#, "phoneNumber", nil),
        (#"{"disabled":true}"#, "disabled", true), (#"{"email":"rob@x.io"}"#, "email", "rob@x.io"),
        (#"{"email":""}"#, "email", nil),
      ] as [(String, String, JSON?)] {
        let changed = try await send(server, "PATCH", "/bob", body)
        #expect(changed.status == 200, "\(body): \(changed.body)")
        #expect(changed.json?[member] == expected, "\(body): \(changed.body)")
      }
      #expect(try await send(server, "PATCH", "/nobody", #"{"displayName":"x"}"#).status == 404)
    }
  }

  @Test(
    "What is no account is refused with what to do, and nothing is changed",
    arguments: [
      #"{"email":"no address"}"#, #"{"phoneNumber":"0431"}"#, #"{"claims":[]}"#, #"{"claims":"x"}"#,
      #"{"claims":{"sub":"x"}}"#, #"{"uid":"other"}"#, #"{"password":"x"}"#, #"{"level":1}"#, #"{"disabled":"yes"}"#,
    ])
  func refused(_ body: String) async throws {
    try await APIServer.run(accounts: .development) { server in
      _ = try await IdentityClient(server: server).anonymous()
      #expect(try await send(server, "POST", "", #"{"uid":"bob","displayName":"Bob"}"#).status == 200)
      let before = try await send(server, "GET", "/bob").body
      let answer = try await send(server, "PATCH", "/bob", body)
      #expect(answer.status == 400, "\(answer.body)")
      let large = #"{"claims":{"a":"\#(String(repeating: "x", count: 1000))"}}"#
      #expect(try await send(server, "PATCH", "/bob", large).status == 400)
      #expect(try await send(server, "GET", "/bob").body == before)
    }
  }

  @Test("Sessions are listed without their tokens, and ended all at once; the player can sign in again")
  func sessions() async throws {
    try await APIServer.run(accounts: .production) { server in
      _ = try await server.database.openNamespace(named: "game")
      let client = IdentityClient(server: server)
      let first = try await client.player("ann@x.io")
      let second = try await client.call("accounts:signInWithPassword", ["email": "ann@x.io", "password": "secret1"])
      let uid = first.text("localId")
      let list = try await send(server, "GET", "/\(uid)/sessions")
      #expect(list.json?["count"] == 2 && list.json?["sessions"]?.array?.count == 2, "\(list.body)")
      #expect(list.json?["sessions"]?.array?.first?["provider"] == "password")
      #expect(!list.body.contains(first.text("refreshToken")))
      server.clock.advance(by: 2000)
      #expect(try await send(server, "DELETE", "/\(uid)/sessions?reason=lost").status == 200)
      #expect(try await send(server, "GET", "/\(uid)/sessions").json?["count"] == 0)
      for player in [first, second] {
        let token = player.text("refreshToken")
        let refreshed = try await client.send(
          "POST", "/securetoken.googleapis.com/v1/token?key=k",
          ["grant_type": "refresh_token", "refresh_token": .string(token)])
        #expect(refreshed.status == 400, "\(refreshed.json)")
        #expect(try await client.call("accounts:lookup", ["idToken": .string(player.text("idToken"))]).status == 400)
      }
      #expect(try await client.call("accounts:signInWithPassword", ["email": "ann@x.io", "password": "secret1"]).status == 200)
      #expect(try await send(server, "GET", "/\(uid)/sessions").json?["count"] == 1)
      #expect(try await send(server, "GET", "/nobody/sessions").status == 404)
    }
  }

  @Test("In development the codes that went to an account are shown, its own only; in production they are not")
  func codes() async throws {
    try await APIServer.run(accounts: .development) { server in
      let client = IdentityClient(server: server)
      let uid = try await client.player("ann@x.io").text("localId")
      _ = try await client.player("bob@x.io")
      for email in ["ann@x.io", "bob@x.io"] as [JSON] {
        #expect(try await client.call("accounts:sendOobCode", ["requestType": "PASSWORD_RESET", "email": email]).status == 200)
      }
      let codes = try #require(try await send(server, "GET", "/\(uid)/oob-codes").json?["codes"]?.array)
      #expect(codes.count == 1 && codes.first?["to"] == "ann@x.io" && codes.first?["kind"] == "PASSWORD_RESET")
    }
    try await APIServer.run(
      access: AccessPolicy(mode: .production, adminTokens: [AdminToken(name: "ann", secret: "owner-2")]), accounts: .production
    ) { server in
      _ = try await server.database.openNamespace(named: "game")
      let answer = try await server.send("GET", "/admin/v1/accounts/x/oob-codes", headers: ["Authorization": "Bearer owner-2"])
      #expect(answer.json?["code"] == "development_only")
    }
  }

  @Test("Accounts are found by their number, and are counted only where that is asked for")
  func found() async throws {
    try await APIServer.run(accounts: .development) { server in
      _ = try await IdentityClient(server: server).anonymous()
      #expect(try await send(server, "POST", "", #"{"uid":"bob","phoneNumber":"+431234567"}"#).status == 200)
      let found = try await send(server, "GET", "?phone=%2B431234567")
      #expect(found.json?["accounts"]?.array?.map { $0["localId"] } == ["bob"] && found.json?["count"] == 1)
      let all = try await send(server, "GET", "?count=false")
      #expect(all.json?["accounts"]?.array?.count == 2 && all.json?["count"] == nil)
      #expect(try await send(server, "GET", "").json?["count"] == 2)
    }
  }
}
