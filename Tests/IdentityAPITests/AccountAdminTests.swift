import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// What administrators' tools call.
struct AccountAdminTests {
  private func run(_ test: (APIServer, IdentityClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: .development) { server in try await test(server, IdentityClient(server: server)) }
  }

  @Test("52, 53: an account is made without tokens; a fresh one was never used; who is unknown is not in the answer at all")
  func create() async throws {
    try await run { _, client in
      let body: JSON = ["localId": "jim", "email": "jim@x.io", "phoneNumber": "+15550100", "disabled": false]
      let made = try await client.admin("accounts", body)
      #expect(made.text("localId") == "jim")
      #expect(made["idToken"] == nil)
      #expect(try await client.admin("accounts", ["phoneNumber": "12"]).error == "INVALID_PHONE_NUMBER : Invalid format.")
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

  @Test("57: what the batch did not delete is named by index and uid; an answer without errors is empty")
  func batchDelete() async throws {
    try await run { _, client in
      for uid in ["a", "b"] { _ = try await client.admin("accounts", ["localId": .string(uid)]) }
      _ = try await client.admin("accounts:update", ["localId": "a", "disableUser": true])
      let answer = try await client.admin("accounts:batchDelete", ["localIds": ["a", "b"]])
      let error: JSON = ["index": 1, "localId": "b", "message": "NOT_DISABLED : Disable the account before batch deletion."]
      #expect(answer["errors"] == [error])
      #expect(try await client.admin("accounts:batchDelete", ["localIds": ["b"], "force": true]).json == .object([]))
      #expect(try await client.admin("accounts:batchDelete", ["localIds": []]).error == "LOCAL_ID_LIST_EXCEEDS_LIMIT")
    }
  }

  @Test("58: a page names the next by a token, the last one none; a query counts in text")
  func pages() async throws {
    try await run { _, client in
      for uid in ["a", "b", "c"] { _ = try await client.admin("accounts", ["localId": .string(uid)]) }
      func page(_ query: String) async throws -> IdentityClient.Answer {
        try await client.send(
          "GET", "/identitytoolkit.googleapis.com/v1/projects/game/accounts:batchGet?\(query)", headers: IdentityClient.owner)
      }
      let first = try await page("maxResults=2&nextPageToken=")
      #expect(first["users"]?.array?.compactMap { $0["localId"]?.string } == ["a", "b"])
      let last = try await page("maxResults=2&nextPageToken=\(first.text("nextPageToken"))")
      #expect(last["users"]?.array?.compactMap { $0["localId"]?.string } == ["c"])
      #expect(last["nextPageToken"] == nil)
      #expect(try await page("maxResults=1001").error == "INVALID_PAGE_SELECTION")
      let count = try await client.admin("accounts:query", ["returnUserInfo": false])
      #expect(count["recordsCount"] == "3")
    }
  }

  @Test("59: a session cookie is made for a time that is written as a number or as a text")
  func sessionCookie() async throws {
    try await run { _, client in
      let token = JSON.string(try await client.anonymous().text("idToken"))
      for duration: JSON in [86_400, "86400"] {
        let made = try await client.send(
          "POST", "/identitytoolkit.googleapis.com/v1/projects/game:createSessionCookie",
          ["idToken": token, "validDuration": duration], headers: IdentityClient.owner)
        let claims = IdentityClient.Answer.claims(of: made.text("sessionCookie"))
        #expect(try #require(claims["exp"]?.int) - #require(claims["iat"]?.int) == 86_400)
      }
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
