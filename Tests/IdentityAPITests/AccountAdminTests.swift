import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// What administrators' tools call.
struct AccountAdminTests {
  private func run(_ test: (APIServer, IdentityClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: .development) { server in try await test(server, IdentityClient(server: server)) }
  }

  @Test("52, 53: an account is made once; a fresh one was never used; who is unknown is not in the answer at all")
  func create() async throws {
    try await run { _, client in
      let body: JSON = ["localId": "jim", "email": "jim@x.io", "phoneNumber": "+15550100", "disabled": false]
      let made = try await client.admin("accounts", body)
      #expect(made.text("localId") == "jim")
      #expect(made["idToken"] == nil)
      #expect(try await client.admin("accounts", body).error == "DUPLICATE_LOCAL_ID")
      let rows: [(JSON, String)] = [
        (["email": "JIM@x.io"], "EMAIL_EXISTS"), (["phoneNumber": "+15550100"], "PHONE_NUMBER_EXISTS"),
        (["phoneNumber": "12"], "INVALID_PHONE_NUMBER : Invalid format."),
      ]
      for (body, error) in rows { #expect(try await client.admin("accounts", body).error == error) }
      let found = try await client.admin(
        "accounts:lookup", ["localId": ["jim", "nobody"], "email": ["jim@x.io"], "phoneNumber": ["+15550100"]])
      #expect(found["users"]?.array?.count == 1)
      #expect(found["users"]?.array?.first?["lastLoginAt"] == nil)
      #expect(found["users"]?.array?.first?["lastRefreshAt"] == nil)
      #expect(try await client.admin("accounts:lookup", ["localId": ["nobody"]])["users"] == nil)
      #expect(try await client.call("accounts:batchGet").status == 403)
    }
  }

  @Test("54: validSince is taken as a number")
  func validSince() async throws {
    try await run { _, client in
      _ = try await client.admin("accounts", ["localId": "jim"])
      #expect(try await client.admin("accounts:update", ["localId": "jim", "validSince": 1_700_000_500]).status == 200)
      let found = try await client.admin("accounts:lookup", ["localId": ["jim"]])
      #expect(found["users"]?.array?.first?["validSince"] == "1700000500")
    }
  }

  @Test("55: an account of Firebase's own export signs in with its password, which is then hashed again")
  func firebaseImport() async throws {
    try await run { server, client in
      let imported = try await client.admin(
        "accounts:batchCreate",
        [
          "hashAlgorithm": "SCRYPT", "rounds": 8, "memoryCost": 14, "saltSeparator": "Bw==",
          "signerKey": "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
          "users": [
            [
              "localId": "jim", "email": "jim@x.io", "salt": "TmFDbA==",
              "passwordHash": "V358E8LdWJXAO7muq0CufVpEOXaj8aFiC7T/rcaGieN04q/ZPJ08WhJEHGjj9lz/2TT+/86N5VjVoc5DdBhBiw==",
            ]
          ],
        ])
      #expect(imported.status == 200)
      #expect(imported["error"] == nil)
      func hash() async throws -> String {
        try await client.admin("accounts:lookup", ["localId": ["jim"]])["users"]?.array?.first?["passwordHash"]?.string ?? ""
      }
      let before = try await hash()
      #expect(try await client.signIn("jim@x.io", "wrong1").error == "INVALID_PASSWORD")
      #expect(try await client.signIn("jim@x.io", "password").text("localId") == "jim")
      #expect(try await hash() != before)
      #expect(try await client.signIn("jim@x.io", "password").status == 200)
    }
  }

  @Test("56: rows that cannot be imported are named, the others are stored")
  func importErrors() async throws {
    try await run { _, client in
      _ = try await client.admin("accounts", ["localId": "ann", "email": "ann@x.io"])
      let answer = try await client.admin(
        "accounts:batchCreate",
        [
          "users": [
            ["localId": "one"], ["email": "b@x.io"], ["localId": "two", "email": "nonsense"],
            ["localId": "three", "email": "ann@x.io"], ["localId": "four", "phoneNumber": "12"], ["localId": "five"],
          ]
        ])
      #expect(answer.status == 200)
      #expect(answer["error"]?.array?.compactMap { $0["index"]?.int } == [1, 2, 3, 4])
      let found = try await client.admin("accounts:lookup", ["localId": ["one", "two", "three", "four", "five"]])
      #expect(found["users"]?.array?.compactMap { $0["localId"]?.string } == ["one", "five"])
      #expect(try await client.admin("accounts:batchCreate", ["users": []]).error == "MISSING_USER_ACCOUNT")
      let twice = try await client.admin(
        "accounts:batchCreate", ["sanityCheck": true, "users": [["localId": "a"], ["localId": "a"]]])
      #expect(twice.error == "DUPLICATE_LOCAL_ID : a")
    }
  }

  @Test("57: only what is disabled is deleted by the batch, unless it is forced")
  func batchDelete() async throws {
    try await run { _, client in
      for uid in ["a", "b"] { _ = try await client.admin("accounts", ["localId": .string(uid)]) }
      _ = try await client.admin("accounts:update", ["localId": "a", "disableUser": true])
      let answer = try await client.admin("accounts:batchDelete", ["localIds": ["a", "b", "nobody"]])
      #expect(answer["errors"]?.array?.count == 1)
      #expect(answer["errors"]?.array?.first?["index"] == 1)
      #expect(answer["errors"]?.array?.first?["message"]?.string?.hasPrefix("NOT_DISABLED") == true)
      #expect(try await client.admin("accounts:batchDelete", ["localIds": ["b"], "force": true]).json == .object([]))
    }
  }

  @Test("58: pages are complete and in order")
  func pages() async throws {
    try await run { _, client in
      let uids = (0..<7).map { "player\($0)" }
      for uid in uids.shuffled() { _ = try await client.admin("accounts", ["localId": .string(uid)]) }
      var found: [String] = []
      var next: String? = ""
      while let token = next {
        let page = try await client.send(
          "GET", "/identitytoolkit.googleapis.com/v1/projects/game/accounts:batchGet?maxResults=3&nextPageToken=\(token)",
          headers: IdentityClient.owner)
        found += page["users"]?.array?.compactMap { $0["localId"]?.string } ?? []
        next = page["nextPageToken"]?.string
      }
      #expect(found == uids)
      let count = try await client.admin("accounts:query", ["returnUserInfo": false])
      #expect(count["recordsCount"] == "7")
    }
  }

  @Test("59: a session cookie lasts as long as it may, for a token that is good")
  func sessionCookie() async throws {
    try await run { _, client in
      let token = JSON.string(try await client.anonymous().text("idToken"))
      func cookie(_ body: JSON) async throws -> IdentityClient.Answer {
        try await client.send(
          "POST", "/identitytoolkit.googleapis.com/v1/projects/game:createSessionCookie", body, headers: IdentityClient.owner)
      }
      #expect(try await cookie(["idToken": token, "validDuration": 299]).error == "INVALID_DURATION")
      #expect(try await cookie(["idToken": "junk", "validDuration": "300"]).error == "INVALID_ID_TOKEN")
      let made = try await cookie(["idToken": token, "validDuration": "86400"])
      let claims = IdentityClient.Answer.claims(of: made.text("sessionCookie"))
      #expect(claims["iss"] == "https://session.firebase.google.com/game")
      #expect(try #require(claims["exp"]?.int) - #require(claims["iat"]?.int) == 86_400)
    }
  }

  @Test("60: emulators' tests begin with no accounts")
  func deleteAll() async throws {
    try await run { _, client in
      let made = try await client.anonymous()
      #expect(try await client.send("DELETE", "/emulator/v1/projects/game/accounts").status == 200)
      #expect(try await client.lookup(made.text("idToken")).error == "USER_NOT_FOUND")
    }
  }

  @Test("61: a browser may ask before it sends; what is not there says so as JSON")
  func preflight() async throws {
    try await run { server, client in
      let answer = try await server.send(
        "OPTIONS", "/identitytoolkit.googleapis.com/v1/accounts:signUp",
        headers: [
          "Origin": "http://game", "Access-Control-Request-Headers": "x-custom",
          "Access-Control-Request-Private-Network": "true",
        ])
      #expect(answer.status == 204)
      #expect(answer["access-control-allow-headers"] == "x-custom")
      #expect(answer["access-control-allow-private-network"] == "true")
      let unknown = try await client.call("accounts:nonsense")
      #expect(unknown.status == 404)
      #expect(unknown.json["error"]?["code"] == 404)
    }
  }

  @Test("What administrators do is on record, without what is secret")
  func audit() async throws {
    try await run { server, client in
      _ = try await client.admin("accounts", ["localId": "jim", "email": "jim@x.io", "password": "hunter22"])
      _ = try await client.admin("accounts:delete", ["localId": "nobody"])
      let log = try await server.send("GET", "/admin/v1/audit", headers: APIServer.admin)
      #expect(log.body.contains("accounts.signUp"))
      #expect(log.body.contains("USER_NOT_FOUND"))
      #expect(!log.body.contains("hunter22"))
    }
  }
}
