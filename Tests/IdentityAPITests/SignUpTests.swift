import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// Anonymous accounts, and how they become accounts.
struct SignUpTests {
  private func run(_ kind: AccountKind = .development, _ test: (APIServer, IdentityClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: kind) { server in try await test(server, IdentityClient(server: server)) }
  }

  @Test("1, 2, 3: an anonymous account has a uid of 28 characters, tokens that say so, and a bare record")
  func anonymous() async throws {
    try await run { _, client in
      let made = try await client.anonymous()
      #expect(made.status == 200)
      #expect(made.text("localId").utf8.count == 28)
      #expect(made.text("expiresIn") == "3600")
      #expect(made.text("kind") == "identitytoolkit#SignupNewUserResponse")
      let claims = made.claims
      #expect(claims["provider_id"] == "anonymous")
      #expect(claims["firebase"] == ["identities": [:], "sign_in_provider": "anonymous"])
      #expect(claims["email"] == nil)
      #expect(claims["aud"] == "game")
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

  @Test("9, 10, 11, 13, 20: a link keeps the uid and the name; new tokens say password, and the password signs in")
  func link() async throws {
    try await run { server, client in
      let made = try await client.anonymous()
      _ = try await client.call(
        "accounts:update", ["idToken": .string(made.text("idToken")), "displayName": "Jim"])
      server.clock.advance(by: 5000)
      let linked = try await client.link(made.text("idToken"), "jim@x.io")
      #expect(linked.text("localId") == made.text("localId"))
      let claims = linked.claims
      #expect(claims["firebase"] == ["identities": ["email": ["jim@x.io"]], "sign_in_provider": "password"])
      #expect(claims["provider_id"] == nil)
      #expect(claims["name"] == "Jim")
      let user = try await client.lookup(linked.text("idToken"))["users"]?.array?.first ?? .null
      #expect(user["passwordHash"]?.string == "UkVEQUNURUQ=")
      #expect(user["emailVerified"] == false)
      #expect(user["providerUserInfo"]?.array?.first?["providerId"] == "password")
      #expect(user["displayName"] == "Jim")
      let validSince = try #require(user["validSince"]?.string.flatMap { Int64($0) })
      #expect(try #require(claims["iat"]?.int) >= validSince)
      #expect(try #require(claims["auth_time"]?.int) >= validSince)
      #expect(try await client.signIn("JIM@x.io").text("localId") == made.text("localId"))
    }
  }

  @Test("12: an ID token of before the link, a second older, is over")
  func oldToken() async throws {
    try await run { server, client in
      let made = try await client.anonymous()
      server.clock.advance(by: 1000)
      _ = try await client.link(made.text("idToken"), "jim@x.io")
      let answer = try await client.lookup(made.text("idToken"))
      #expect(answer.status == 400)
      #expect(answer.error == "TOKEN_EXPIRED")
    }
  }

  @Test("14: a link by accounts:update gives tokens that hold against validSince")
  func linkByUpdate() async throws {
    try await run { server, client in
      let made = try await client.anonymous()
      server.clock.advance(by: 2000)
      let linked = try await client.call(
        "accounts:update",
        ["idToken": .string(made.text("idToken")), "email": "jim@x.io", "password": "secret1", "returnSecureToken": true])
      #expect(linked.text("localId") == made.text("localId"))
      #expect(linked.claims["firebase"]?["sign_in_provider"] == "password")
      let user = try await client.lookup(linked.text("idToken"))["users"]?.array?.first ?? .null
      let validSince = try #require(user["validSince"]?.string.flatMap { Int64($0) })
      #expect(try #require(linked.claims["auth_time"]?.int) >= validSince)
    }
  }

  @Test("15: an address that is taken changes nothing, however it is written")
  func takenAddress() async throws {
    try await run { _, client in
      _ = try await client.player("Ann@X.io")
      let made = try await client.anonymous()
      for email in ["ann@x.io", "ANN@X.IO"] {
        #expect(try await client.link(made.text("idToken"), email).error == "EMAIL_EXISTS")
        #expect(try await client.player(email).error == "EMAIL_EXISTS")
      }
      let user = try await client.lookup(made.text("idToken"))["users"]?.array?.first ?? .null
      #expect(user["email"] == nil)
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

  @Test("18: an account that is disabled or gone cannot be linked")
  func deadAccounts() async throws {
    try await run { _, client in
      let disabled = try await client.anonymous()
      _ = try await client.admin(
        "accounts:update", ["localId": .string(disabled.text("localId")), "disableUser": true])
      #expect(try await client.link(disabled.text("idToken"), "a@x.io").error == "USER_DISABLED")
      let deleted = try await client.anonymous()
      _ = try await client.call("accounts:delete", ["idToken": .string(deleted.text("idToken"))])
      #expect(try await client.link(deleted.text("idToken"), "a@x.io").error == "USER_NOT_FOUND")
    }
  }

  @Test("21: a Google user adds a password for their own address")
  func ownAddress() async throws {
    try await run { _, client in
      let made = try await client.provider(["sub": "g1", "email": "ann@x.io", "email_verified": true])
      let linked = try await client.link(made.text("idToken"), "ann@x.io")
      #expect(linked.text("localId") == made.text("localId"))
      let user = try await client.lookup(linked.text("idToken"))["users"]?.array?.first ?? .null
      #expect(user["providerUserInfo"]?.array?.compactMap { $0["providerId"]?.string } == ["google.com", "password"])
      #expect(user["emailVerified"] == true)
    }
  }

  @Test("22: of a hundred players who want one address at once exactly one gets it")
  func concurrentLinks() async throws {
    try await run { _, client in
      var tokens: [String] = []
      for _ in 0..<100 { tokens.append(try await client.anonymous().text("idToken")) }
      let answers = try await withThrowingTaskGroup(of: IdentityClient.Answer.self) { group in
        for token in tokens { group.addTask { try await client.link(token, "one@x.io") } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.count { $0.status == 200 } == 1)
      #expect(answers.count { $0.error == "EMAIL_EXISTS" } == 99)
    }
  }

  @Test("A link whose answer was lost is safely asked for again, with the token of before")
  func repeatedLink() async throws {
    try await run { server, client in
      let made = try await client.anonymous()
      _ = try await client.link(made.text("idToken"), "jim@x.io")
      server.clock.advance(by: 30_000)
      let again = try await client.link(made.text("idToken"), "jim@x.io")
      #expect(again.status == 200)
      #expect(again.text("localId") == made.text("localId"))
      #expect(try await client.link(made.text("idToken"), "jim@x.io", "another").error == "EMAIL_EXISTS")
    }
  }
}
