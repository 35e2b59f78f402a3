import Accounts
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// Refresh, custom tokens, sign-in and codes.
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

  @Test("43, 44: what is wrong with a refresh is named; a session that was revoked, or outgrown by a link, is over")
  func badRefresh() async throws {
    try await run { server, client in
      let made = try await client.anonymous()
      let token = made.text("refreshToken")
      func error(_ body: JSON) async throws -> String { try await client.send("POST", "/v1/token?key=k", body).error }
      #expect(try await error(["refreshToken": .string(token)]) == "MISSING_GRANT_TYPE")
      #expect(try await error(["grantType": "password", "refreshToken": "x"]) == "INVALID_GRANT_TYPE")
      #expect(try await error(["grantType": "refresh_token"]) == "MISSING_REFRESH_TOKEN")
      #expect(try await client.refresh("junk").error == "INVALID_REFRESH_TOKEN")
      server.clock.advance(by: 1000)
      let linked = try await client.link(token: made, "jim@x.io")
      // For a minute the answer of the link may have been lost; what is refreshed then is the linked account's.
      let late = try await client.refresh(token)
      #expect(late.claims["firebase"]?["sign_in_provider"] == "password")
      server.clock.advance(by: 61_000)
      #expect(try await client.refresh(token).error == "TOKEN_EXPIRED")
      #expect(try await client.refresh(linked.text("refreshToken")).status == 200)
      let uid = JSON.string(made.text("localId"))
      _ = try await client.admin(
        "accounts:update", ["localId": uid, "validSince": .string(String(server.clock.now() / 1000 + 1))])
      #expect(try await client.refresh(linked.text("refreshToken")).error == "TOKEN_EXPIRED")
      _ = try await client.admin("accounts:update", ["localId": uid, "disableUser": true])
      #expect(try await client.refresh(linked.text("refreshToken")).error == "USER_DISABLED")
      _ = try await client.admin("accounts:delete", ["localId": uid])
      #expect(try await client.refresh(linked.text("refreshToken")).error == "USER_NOT_FOUND")
    }
  }

  @Test("45: an administrator's claims reach the next token; reserved and long ones are refused")
  func claims() async throws {
    try await run { _, client in
      let made = try await client.player("jim@x.io")
      let uid = JSON.string(made.text("localId"))
      func set(_ text: String) async throws -> String {
        try await client.admin("accounts:update", ["localId": uid, "customAttributes": .string(text)]).error
      }
      #expect(try await set(#"{"rank":"captain"}"#) == "")
      #expect(try await client.refresh(made.text("refreshToken")).claims["rank"] == "captain")
      #expect(try await set(#"{"sub":"x"}"#) == "FORBIDDEN_CLAIM : sub")
      #expect(try await set(#"{"a":"\#(String(repeating: "x", count: 1000))"}"#) == "CLAIMS_TOO_LARGE")
      let own = try await client.call(
        "accounts:update", ["idToken": .string(made.text("idToken")), "customAttributes": "{}"])
      #expect(own.error == "INSUFFICIENT_PERMISSION")
    }
  }

  @Test("46, 47: a custom token makes its account once, and is welcome to an anonymous one")
  func customTokens() async throws {
    try await run { _, client in
      func signIn(_ uid: String) async throws -> IdentityClient.Answer {
        try await client.call(
          "accounts:signInWithCustomToken", ["token": .string(#"{"uid":"\#(uid)","claims":{"vip":true}}"#)])
      }
      let made = try await signIn("jim")
      #expect(made["isNewUser"] == true)
      #expect(made.claims["sub"] == "jim")
      #expect(made.claims["vip"] == true)
      #expect(made.claims["firebase"]?["sign_in_provider"] == "custom")
      #expect(try await signIn("jim")["isNewUser"] == false)
      #expect(try await client.refresh(made.text("refreshToken")).claims["vip"] == true)
      let anonymous = try await client.anonymous()
      #expect(try await signIn(anonymous.text("localId")).claims["sub"]?.string == anonymous.text("localId"))
    }
  }

  @Test("48, 49: unless addresses are protected, errors and methods tell what is known")
  func protection() async throws {
    try await run { _, client in
      _ = try await client.player("jim@x.io")
      let question: JSON = ["identifier": "jim@x.io", "continueUri": "http://localhost"]
      #expect(try await client.signIn("nobody@x.io").error == "EMAIL_NOT_FOUND")
      #expect(try await client.signIn("jim@x.io", "wrong1").error == "INVALID_PASSWORD")
      #expect(try await client.call("accounts:createAuthUri", question)["signinMethods"] == ["password"])
      _ = try await client.send(
        "PATCH", "/emulator/v1/projects/game/config", ["emailPrivacyConfig": ["enableImprovedEmailPrivacy": true]])
      for email in ["nobody@x.io", "jim@x.io"] {
        #expect(try await client.signIn(email, "wrong1").error == "INVALID_LOGIN_CREDENTIALS")
        let reset = try await client.call("accounts:sendOobCode", ["requestType": "PASSWORD_RESET", "email": .string(email)])
        #expect(reset.status == 200)
      }
      #expect(try await client.call("accounts:createAuthUri", question)["signinMethods"] == nil)
    }
  }

  @Test("50, 51: a reset is listed, described, used once; links are given to administrators only")
  func reset() async throws {
    try await run { server, client in
      let made = try await client.player("jim@x.io")
      server.clock.advance(by: 1000)
      _ = try await client.call("accounts:sendOobCode", ["requestType": 1, "email": "jim@x.io"])
      let code = JSON.string(try await client.lastCode())
      let described = try await client.call("accounts:resetPassword", ["oobCode": code])
      #expect(described.text("requestType") == "PASSWORD_RESET")
      #expect(described.text("email") == "jim@x.io")
      #expect(
        try await client.call("accounts:resetPassword", ["oobCode": code, "newPassword": "12345"]).error.hasPrefix("WEAK_"))
      #expect(try await client.call("accounts:resetPassword", ["oobCode": code, "newPassword": "fresh-1"]).status == 200)
      #expect(try await client.call("accounts:resetPassword", ["oobCode": code]).error == "INVALID_OOB_CODE")
      #expect(try await client.lookup(made.text("idToken")).error == "TOKEN_EXPIRED")
      let user = try await client.lookup(try await client.signIn("jim@x.io", "fresh-1").text("idToken"))["users"]?.array?.first
      #expect(user?["emailVerified"] == true)
      let body: JSON = ["requestType": "EMAIL_SIGNIN", "email": "jim@x.io", "returnOobLink": true]
      #expect(try await client.call("accounts:sendOobCode", body).error == "INSUFFICIENT_PERMISSION")
      let link = try await client.admin("accounts:sendOobCode", body)
      #expect(link.text("oobLink").contains("mode=signIn"))
      #expect(link.text("oobLink").contains("oobCode=\(link.text("oobCode"))"))
    }
  }

  @Test("50: a code's time ends")
  func oldCode() async throws {
    try await run { server, client in
      _ = try await client.player("jim@x.io")
      _ = try await client.call("accounts:sendOobCode", ["requestType": "PASSWORD_RESET", "email": "jim@x.io"])
      server.clock.advance(by: 3_600_001)
      let code = JSON.string(try await client.lastCode())
      #expect(try await client.call("accounts:resetPassword", ["oobCode": code]).error == "EXPIRED_OOB_CODE")
    }
  }

  @Test("65: who keeps guessing has to wait, and is let in again")
  func guessing() async throws {
    try await run { server, client in
      _ = try await client.player("jim@x.io")
      for _ in 0..<10 { #expect(try await client.signIn("jim@x.io", "wrong1").error == "INVALID_PASSWORD") }
      #expect(try await client.signIn("jim@x.io").error.hasPrefix("TOO_MANY_ATTEMPTS_TRY_LATER"))
      server.clock.advance(by: 30_001)
      #expect(try await client.signIn("jim@x.io").status == 200)
    }
  }

  @Test("In production one address makes a bounded number of accounts")
  func signUpLimit() async throws {
    var kind = AccountKind.production
    kind.options.signUpsPerHour = 3
    try await run(kind) { _, client in
      var answers: [IdentityClient.Answer] = []
      for _ in 0..<4 { answers.append(try await client.anonymous()) }
      #expect(answers.map(\.status) == [200, 200, 200, 400])
      #expect(answers[3].error.hasPrefix("TOO_MANY_ATTEMPTS_TRY_LATER"))
    }
  }
}

extension IdentityClient {
  func link(token made: Answer, _ email: String) async throws -> Answer { try await link(made.text("idToken"), email) }
}
