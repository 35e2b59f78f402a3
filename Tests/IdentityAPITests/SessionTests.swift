import Accounts
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// Refresh, custom tokens, sign-in and codes, as clients ask for them.
struct SessionTests {
  private func run(_ kind: AccountKind = .development, _ test: (APIServer, IdentityClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: kind) { server in try await test(server, IdentityClient(server: server)) }
  }

  @Test("41, 42: a refresh as JSON or as a form keeps the time and the way of the sign-in")
  func refresh() async throws {
    try await run { server, client in
      let made = try await client.player("jim@x.io")
      server.clock.advance(by: 10_000)
      let token = made.text("refreshToken")
      let form = try await server.send(
        "POST", "/v1/token?key=k", "grant_type=refresh_token&refresh_token=\(token)",
        headers: ["Content-Type": "application/x-www-form-urlencoded"])
      for answer in [try await client.refresh(token), IdentityClient.Answer(status: form.status, json: form.json ?? .null)] {
        #expect(answer.status == 200)
        #expect(answer.text("id_token") == answer.text("access_token"))
        #expect(answer.text("token_type") == "Bearer")
        #expect(answer.text("user_id") == made.text("localId"))
        let isNumeric = answer.text("project_id").allSatisfy(\.isNumber)
        #expect(isNumeric)
        #expect(!answer.text("refresh_token").isEmpty)
        #expect(answer.claims["auth_time"] == made.claims["auth_time"])
        #expect(answer.claims["iat"] != made.claims["iat"])
        #expect(answer.claims["firebase"]?["sign_in_provider"] == "password")
      }
    }
  }

  @Test("JSON is read as JSON, also where a client calls every body a form")
  func mislabelled() async throws {
    try await run { server, client in
      let made = try await client.player("jim@x.io")
      let answer = try await server.send(
        "POST", "/v1/accounts:signInWithPassword?key=k", #"{"email":"jim@x.io","password":"secret1"}"#,
        headers: ["Content-Type": "application/x-www-form-urlencoded"])
      #expect(answer.status == 200)
      #expect(answer.json?["localId"] == made["localId"])
    }
  }

  @Test("43, 44: what is wrong with a refresh is named")
  func badRefresh() async throws {
    try await run { server, client in
      let token = try await client.anonymous().text("refreshToken")
      func error(_ body: JSON) async throws -> String { try await client.send("POST", "/v1/token?key=k", body).error }
      #expect(try await error(["refreshToken": .string(token)]) == "MISSING_GRANT_TYPE")
      #expect(try await error(["grantType": "password", "refreshToken": "x"]) == "INVALID_GRANT_TYPE")
      #expect(try await error(["grantType": "refresh_token"]) == "MISSING_REFRESH_TOKEN")
      #expect(try await client.refresh("junk").error == "INVALID_REFRESH_TOKEN")
    }
  }

  @Test("45: an administrator's claims are text; reserved and long ones are refused, and a player's own")
  func claims() async throws {
    try await run { _, client in
      let made = try await client.player("jim@x.io")
      let uid = JSON.string(made.text("localId"))
      func set(_ text: String) async throws -> String {
        try await client.admin("accounts:update", ["localId": uid, "customAttributes": .string(text)]).error
      }
      #expect(try await set(#"{"rank":"captain"}"#) == "")
      let user = try await client.admin("accounts:lookup", ["localId": [uid]])["users"]?.array?.first
      #expect(user?["customAttributes"] == #"{"rank":"captain"}"#)
      #expect(try await set(#"{"sub":"x"}"#) == "FORBIDDEN_CLAIM : sub")
      #expect(try await set(#"{"a":"\#(String(repeating: "x", count: 1000))"}"#) == "CLAIMS_TOO_LARGE")
      let own = try await client.call("accounts:update", ["idToken": .string(made.text("idToken")), "customAttributes": "{}"])
      #expect(own.error == "INSUFFICIENT_PERMISSION")
    }
  }

  @Test("46: an answer to a custom token says each time whether the player is new")
  func customTokens() async throws {
    try await run { _, client in
      let body: JSON = ["token": #"{"uid":"jim","claims":{"vip":true}}"#]
      let made = try await client.call("accounts:signInWithCustomToken", body)
      #expect(made["isNewUser"] == true)
      #expect(made.text("kind") == "identitytoolkit#VerifyCustomTokenResponse")
      #expect(made.claims["sub"] == "jim")
      #expect(try await client.call("accounts:signInWithCustomToken", body)["isNewUser"] == false)
      #expect(try await client.call("accounts:signInWithCustomToken").error == "MISSING_CUSTOM_TOKEN")
    }
  }

  @Test("48, 49: whether addresses are protected is set by the emulators' way too; then methods are not told")
  func protection() async throws {
    try await run { _, client in
      _ = try await client.player("jim@x.io")
      let question: JSON = ["identifier": "jim@x.io", "continueUri": "http://localhost"]
      #expect(try await client.call("accounts:createAuthUri", question)["signinMethods"] == ["password"])
      _ = try await client.send(
        "PATCH", "/emulator/v1/projects/game/config", ["emailPrivacyConfig": ["enableImprovedEmailPrivacy": true]])
      #expect(try await client.signIn("nobody@x.io", "wrong1").error == "INVALID_LOGIN_CREDENTIALS")
      let hidden = try await client.call("accounts:createAuthUri", question)
      #expect(hidden.status == 200 && hidden["signinMethods"] == nil && hidden["registered"] == nil)
    }
  }

  @Test("50, 51: a reset is asked for by number, listed and described; links are given to administrators only")
  func reset() async throws {
    try await run { server, client in
      _ = try await client.player("jim@x.io")
      _ = try await client.call("accounts:sendOobCode", ["requestType": 1, "email": "jim@x.io"])
      let code = JSON.string(try await client.lastCode())
      let described = try await client.call("accounts:resetPassword", ["oobCode": code])
      #expect(described.text("requestType") == "PASSWORD_RESET")
      #expect(described.text("email") == "jim@x.io")
      let done = try await client.call("accounts:resetPassword", ["oobCode": code, "newPassword": "fresh-1"])
      #expect(done.status == 200 && done.text("email") == "jim@x.io" && done["idToken"] == nil)
      #expect(try await client.call("accounts:resetPassword", ["oobCode": code]).error == "INVALID_OOB_CODE")
      let body: JSON = ["requestType": "EMAIL_SIGNIN", "email": "jim@x.io", "returnOobLink": true]
      #expect(try await client.call("accounts:sendOobCode", body).error == "INSUFFICIENT_PERMISSION")
      let link = try await client.admin("accounts:sendOobCode", body)
      #expect(link.text("oobLink").contains("mode=signIn"))
      #expect(link.text("oobLink").contains("oobCode=\(link.text("oobCode"))"))
    }
  }
}
