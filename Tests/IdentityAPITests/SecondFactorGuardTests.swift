import Accounts
import Credentials
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// Ways around a second factor that are none.
struct SecondFactorGuardTests {
  private func run(_ kind: AccountKind = .development, _ test: (FactorClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: kind) { server in
      try await test(FactorClient(client: IdentityClient(server: server)))
    }
  }

  @Test(
    "No way around by the address: it is not changed to an unproved one, and whose address was unproved is asked all the same")
  func addresses() async throws {
    try await run { one in
      let player = try await one.verifiedPlayer("jim@x.io")
      let (secret, enrolled) = try await one.enrolAuthenticator(player)
      let token = JSON.string(enrolled.text("idToken"))
      let refused = "OPERATION_NOT_ALLOWED : Please verify the new email before changing email."
      #expect(try await one.client.call("accounts:update", ["idToken": token, "email": "typo@x.io"]).error == refused)
      #expect(try await one.client.link(enrolled.text("idToken"), "typo@x.io").error == refused)
      // An administrator may; the link in a mail to that address is a first credential then, no more.
      _ = try await one.client.admin(
        "accounts:update", ["localId": .string(player.text("localId")), "email": "typo@x.io"])
      _ = try await one.client.call(
        "accounts:sendOobCode", ["requestType": "EMAIL_SIGNIN", "email": "typo@x.io", "continueUrl": "http://localhost/"])
      let byLink = try await one.client.call(
        "accounts:signInWithEmailLink", ["email": "typo@x.io", "oobCode": .string(try await one.client.lastCode())])
      #expect(byLink["idToken"] == nil && byLink["mfaPendingCredential"] != nil)
      let byProvider = try await one.client.provider(["sub": "g1", "email": "typo@x.io", "email_verified": true])
      #expect(byProvider["idToken"] == nil && byProvider["mfaPendingCredential"] != nil)
      // Nothing is changed until the code is shown; then the owner of the address has come.
      let uid = JSON.string(player.text("localId"))
      let before = try await one.client.admin("accounts:lookup", ["localId": [uid]])["users"]?.array?.first
      #expect(before?["passwordHash"] != nil && before?["emailVerified"] == false)
      #expect(before?["providerUserInfo"]?.array?.count == 1)
      one.server.clock.advance(by: 30_000)
      let id = try #require(byProvider["mfaInfo"]?.array?.first?["mfaEnrollmentId"]?.string)
      let done = try await one.finish(byProvider, id, one.code(secret))
      #expect(done.claims["firebase"]?["sign_in_provider"] == "google.com")
      let after = try await one.client.admin("accounts:lookup", ["localId": [uid]])["users"]?.array?.first
      #expect(after?["passwordHash"] == nil && after?["emailVerified"] == true)
      #expect(after?["mfaInfo"]?.array?.count == 1)
    }
  }

  @Test("A session of before the first factor neither takes it away nor adds one, and does not get younger by itself")
  func oldSessions() async throws {
    try await run { one in
      let player = try await one.verifiedPlayer("jim@x.io")
      let (_, enrolled) = try await one.enrolAuthenticator(player)
      let id = JSON.string(enrolled.claims["firebase"]?["second_factor_identifier"]?.string ?? "")
      let old = try await one.client.refresh(player.text("refreshToken"))
      let token = JSON.string(old.text("id_token"))
      #expect(
        try await one.v2("mfaEnrollment:withdraw", ["idToken": token, "mfaEnrollmentId": id]).error
          == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
      one.server.clock.advance(by: 30_000)
      let started = try await one.v2("mfaEnrollment:start", ["idToken": token, "totpEnrollmentInfo": [:]])
      let info = try #require(started["totpSessionInfo"])
      let second = try #require(AuthenticatorSecret(text: info["sharedSecretKey"]?.string ?? ""))
      let added = try await one.v2(
        "mfaEnrollment:finalize",
        [
          "idToken": token,
          "totpVerificationInfo": [
            "sessionInfo": info["sessionInfo"] ?? .null, "verificationCode": .string(one.code(second)),
          ],
        ])
      #expect(added.error == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
      let younger = try await one.client.call("accounts:update", ["idToken": token, "validSince": "1"])
      #expect(younger.claims["auth_time"] == player.claims["auth_time"])
      #expect(younger.claims["iat"] != player.claims["iat"])
      let linked = try await one.client.provider(["sub": "g1"], token: younger.text("idToken"))
      #expect(linked.claims["auth_time"] == player.claims["auth_time"])
    }
  }

  @Test("In production nobody learns from a telephone's number whether it has an account")
  func numbers() async throws {
    try await run(.production) { one in
      let made = try await one.client.admin(
        "accounts",
        [
          "email": "jim@x.io", "emailVerified": true, "phoneNumber": "+15555550100",
          "mfaInfo": [["phoneInfo": "+15555550101"]],
        ])
      #expect(made.status == 200)
      var errors: Set<String> = []
      for number in ["+15555550100", "+15555550199"] {
        errors.insert(try await one.client.call("accounts:sendVerificationCode", ["phoneNumber": .string(number)]).error)
      }
      #expect(errors == ["OPERATION_NOT_ALLOWED : Sign-in by telephone is not set up on this server."])
    }
  }

  @Test("An import that says nothing of second factors leaves them; used codes stay used")
  func imports() async throws {
    try await run { one in
      let player = try await one.verifiedPlayer("jim@x.io")
      let (secret, enrolled) = try await one.enrolAuthenticator(player)
      let id = try #require(enrolled.claims["firebase"]?["second_factor_identifier"]?.string)
      let page = try await one.client.send("GET", "/v1/projects/game/accounts:batchGet", headers: IdentityClient.owner)
      #expect(try await one.client.admin("accounts:batchCreate", ["users": page["users"] ?? .null])["error"] == nil)
      let first = try await one.client.signIn("jim@x.io")
      #expect(try await one.finish(first, id, one.code(secret)).error == "INVALID_CODE")
      let user = page["users"]?.array?.first?.object?.filter { $0.key != "mfaInfo" } ?? []
      #expect(try await one.client.admin("accounts:batchCreate", ["users": [.object(user)]])["error"] == nil)
      one.server.clock.advance(by: 30_000)
      let second = try await one.client.signIn("jim@x.io")
      #expect(second["idToken"] == nil)
      #expect(try await one.finish(second, id, one.code(secret)).status == 200)
      let none = JSON.object(user + [JSON.Member(key: "mfaInfo", value: [])])
      _ = try await one.client.admin("accounts:batchCreate", ["users": [none]])
      #expect(try await one.client.signIn("jim@x.io")["idToken"] != nil)
    }
  }

  @Test("However many codes are tried at once, five are looked at; who waits takes no room from others")
  func salvo() async throws {
    try await run { one in
      let player = try await one.verifiedPlayer("jim@x.io")
      let (_, enrolled) = try await one.enrolAuthenticator(player)
      let id = try #require(enrolled.claims["firebase"]?["second_factor_identifier"]?.string)
      let first = try await one.client.signIn("jim@x.io")
      let errors = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<20 { group.addTask { try await one.finish(first, id, "000000").error } }
        return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
      #expect(errors == ["INVALID_CODE": 5, "INVALID_MFA_PENDING_CREDENTIAL": 15])
      let oldest = try await one.client.signIn("jim@x.io")
      one.server.clock.advance(by: 1)
      for _ in 0..<5 { _ = try await one.client.signIn("jim@x.io") }
      #expect(try await one.finish(oldest, id, "000000").error == "INVALID_MFA_PENDING_CREDENTIAL")
    }
  }
}
