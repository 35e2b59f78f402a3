import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// Signing up: who may ask, by which paths, and what is answered.
struct SignUpTests {
  private func run(_ kind: AccountKind = .development, _ test: (APIServer, IdentityClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: kind) { server in try await test(server, IdentityClient(server: server)) }
  }

  @Test("1, 2, 3: an anonymous account is answered with its uid, its tokens and their hour, and is a bare record")
  func anonymous() async throws {
    try await run { _, client in
      let made = try await client.anonymous()
      #expect(made.status == 200)
      #expect(made.text("expiresIn") == "3600")
      #expect(made.text("kind") == "identitytoolkit#SignupNewUserResponse")
      #expect(made.claims["provider_id"] == "anonymous" && made.claims["user_id"] == made["localId"])
      let users = try await client.lookup(made.text("idToken"))["users"]?.array ?? []
      #expect(users.count == 1)
      #expect(users.first?["providerUserInfo"] == nil)
      #expect(users.first?["passwordHash"] == nil)
      #expect(users.first?["createdAt"]?.string == String(APIServer.start))
    }
  }

  @Test("5, 6, 7: a key in either place is needed; the owner is recognised in any case; others are not")
  func credentials() async throws {
    try await run { _, client in
      let path = "/identitytoolkit.googleapis.com/v1/accounts:signUp"
      let none = try await client.send("POST", path, [:])
      #expect(none.status == 403)
      #expect(none.error == "The request is missing a valid API key.")
      #expect(none.json["error"]?["status"] == "PERMISSION_DENIED")
      #expect(try await client.send("POST", path, [:], headers: ["x-goog-api-key": "k"]).status == 200)
      #expect(try await client.send("POST", path, [:], headers: ["Authorization": "bEArEr OWNER"]).status == 200)
      let other = try await client.send("POST", path + "?key=k", [:], headers: ["Authorization": "Bearer nonsense"])
      #expect(other.status == 401)
      #expect(other.json["error"]?["status"] == "UNAUTHENTICATED")
      let foreign = try await client.call("accounts:signUp", ["targetProjectId": "other"])
      #expect(foreign.status == 400)
      #expect(
        foreign.error
          == "INSUFFICIENT_PERMISSION : Only authenticated requests can specify target_project_id.")
    }
  }

  @Test("8: the paths of older clients, and those without a host, do the same")
  func legacy() async throws {
    try await run { _, client in
      for path in [
        "/www.googleapis.com/identitytoolkit/v3/relyingparty/signupNewUser", "/identitytoolkit/v3/relyingparty/signupNewUser",
        "/v1/accounts:signUp",
      ] {
        let made = try await client.send("POST", path + "?key=k", ["returnSecureToken": true, "clientType": "CLIENT_TYPE_IOS"])
        #expect(made.status == 200, "\(path)")
        #expect(made.claims["provider_id"] == "anonymous", "\(path)")
      }
    }
  }

  @Test("9, 10, 11, 13: a linked account shows its password redacted, its provider, and since when tokens count")
  func link() async throws {
    try await run { server, client in
      let made = try await client.anonymous()
      server.clock.advance(by: 5000)
      let linked = try await client.link(made.text("idToken"), "jim@x.io")
      #expect(linked.text("localId") == made.text("localId"))
      let user = try await client.lookup(linked.text("idToken"))["users"]?.array?.first ?? .null
      #expect(user["passwordHash"]?.string == "UkVEQUNURUQ=")
      #expect(user["emailVerified"] == false)
      #expect(user["providerUserInfo"]?.array?.first?["providerId"] == "password")
      #expect(user["validSince"]?.string == String(server.clock.now() / 1000))
      #expect(try await client.lookup(made.text("idToken")).error == "TOKEN_EXPIRED")
      #expect(try await client.link(made.text("idToken"), "JIM@X.IO", "another").error == "EMAIL_EXISTS")
    }
  }

  @Test("16, 17: what is missing, empty, no address or too short is named")
  func badInput() async throws {
    try await run { _, client in
      let token = JSON.string(try await client.anonymous().text("idToken"))
      let rows: [(JSON, String)] = [
        (["idToken": token], "MISSING_EMAIL"), (["idToken": token, "email": "a@x.io"], "MISSING_PASSWORD"),
        (["email": "", "password": "secret1"], "INVALID_EMAIL"), (["email": "a", "password": "secret1"], "INVALID_EMAIL"),
        (["email": "a@x.io", "password": "12345"], "WEAK_PASSWORD : Password should be at least 6 characters"),
        (["idToken": "junk", "email": "a@x.io", "password": "secret1"], "INVALID_ID_TOKEN"),
        (["localId": "mine"], "UNEXPECTED_PARAMETER : User ID"),
      ]
      for (body, error) in rows {
        let answer = try await client.call("accounts:signUp", body)
        #expect(answer.status == 400)
        #expect(answer.error == error)
      }
    }
  }
}
