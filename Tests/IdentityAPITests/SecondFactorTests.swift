import Accounts
import Credentials
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// Second factors: telephones and authenticators.
struct SecondFactorTests {
  private func run(_ kind: AccountKind = .development, _ test: (FactorClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: kind) { server in
      try await test(FactorClient(client: IdentityClient(server: server)))
    }
  }

  @Test("An authenticator: its secret is given once, a code enrols it, and from then on a password alone lets nobody in")
  func authenticator() async throws {
    try await run { one in
      let player = try await one.verifiedPlayer("jim@x.io")
      let (secret, enrolled) = try await one.enrolAuthenticator(player, name: "Jim's phone")
      #expect(enrolled.claims["firebase"]?["sign_in_second_factor"] == "totp")
      let id = try #require(enrolled.claims["firebase"]?["second_factor_identifier"]?.string)
      let own = try await one.client.lookup(enrolled.text("idToken"))
      let listed = try #require(own["users"]?.array?.first?["mfaInfo"]?.array?.first)
      #expect(listed["mfaEnrollmentId"]?.string == id)
      #expect(listed["displayName"] == "Jim's phone")
      #expect(listed["totpInfo"]?.object?.isEmpty == true)

      one.server.clock.advance(by: 60_000)
      let first = try await one.client.signIn("jim@x.io")
      #expect(first.status == 200)
      #expect(first["idToken"] == nil && first["refreshToken"] == nil)
      #expect(first["mfaInfo"]?.array?.first?["mfaEnrollmentId"]?.string == id)
      let done = try await one.finish(first, id, one.code(secret))
      #expect(done.status == 200)
      #expect(done.claims["user_id"]?.string == player.text("localId"))
      #expect(done.claims["firebase"]?["sign_in_provider"] == "password")
      #expect(done.claims["firebase"]?["second_factor_identifier"]?.string == id)
      // What a refresh gives says the same of the same sign-in, and so does a session that a change of the password begins.
      let refreshed = try await one.client.refresh(done.text("refreshToken"))
      #expect(refreshed.claims["firebase"] == done.claims["firebase"])
      let changed = try await one.client.call(
        "accounts:update", ["idToken": .string(done.text("idToken")), "password": "secret2"])
      #expect(changed.claims["firebase"] == done.claims["firebase"])
    }
  }

  @Test("A code, and a pending sign-in, are good once; a wrong code leaves five attempts")
  func once() async throws {
    try await run { one in
      let player = try await one.verifiedPlayer("jim@x.io")
      let (secret, enrolled) = try await one.enrolAuthenticator(player)
      let id = try #require(enrolled.claims["firebase"]?["second_factor_identifier"]?.string)
      // The code that enrolled it is used up.
      let early = try await one.client.signIn("jim@x.io")
      #expect(try await one.finish(early, id, one.code(secret)).error == "INVALID_CODE")
      one.server.clock.advance(by: 30_000)
      let first = try await one.client.signIn("jim@x.io")
      let code = one.code(secret)
      #expect(try await one.finish(first, id, code).status == 200)
      #expect(try await one.finish(first, id, code).error == "INVALID_MFA_PENDING_CREDENTIAL")
      let second = try await one.client.signIn("jim@x.io")
      #expect(try await one.finish(second, id, code).error == "INVALID_CODE")

      one.server.clock.advance(by: 300_000)
      let third = try await one.client.signIn("jim@x.io")
      for _ in 0..<5 { #expect(try await one.finish(third, id, "000000").error == "INVALID_CODE") }
      #expect(try await one.finish(third, id, one.code(secret)).error == "INVALID_MFA_PENDING_CREDENTIAL")
      // Six so far; new first credentials do not give new guesses for ever.
      let fourth = try await one.client.signIn("jim@x.io")
      var errors: [String] = []
      for _ in 0..<5 { errors.append(String(try await one.finish(fourth, id, "000000").error.prefix(27))) }
      #expect(errors == Array(repeating: "INVALID_CODE", count: 4) + ["TOO_MANY_ATTEMPTS_TRY_LATER"])
      one.server.clock.advance(by: 60_000)
      let fifth = try await one.client.signIn("jim@x.io")
      #expect(try await one.finish(fifth, id, one.code(secret)).status == 200)
    }
  }

  @Test("A telephone: its number is masked before the second factor, and each code is for what it was sent for")
  func telephone() async throws {
    try await run { one in
      let player = try await one.verifiedPlayer("jim@x.io")
      let token = JSON.string(player.text("idToken"))
      let started = try await one.v2(
        "mfaEnrollment:start", ["idToken": token, "phoneEnrollmentInfo": ["phoneNumber": "+4915112345678"]])
      let session = try #require(started["phoneSessionInfo"]?["sessionInfo"])
      let code = JSON.string(try await one.lastPhoneCode())
      // It enrols a number; it signs nobody in.
      let misused = try await one.client.call("accounts:signInWithPhoneNumber", ["sessionInfo": session, "code": code])
      #expect(misused.error == "INVALID_SESSION_INFO")
      let enrolled = try await one.v2(
        "mfaEnrollment:finalize", ["idToken": token, "phoneVerificationInfo": ["sessionInfo": session, "code": code]])
      #expect(enrolled.claims["firebase"]?["sign_in_second_factor"] == "phone")
      let again = try await one.v2(
        "mfaEnrollment:start",
        ["idToken": .string(enrolled.text("idToken")), "phoneEnrollmentInfo": ["phoneNumber": "+4915112345678"]])
      #expect(again.error.hasPrefix("SECOND_FACTOR_EXISTS"))

      let first = try await one.client.signIn("jim@x.io")
      let info = try #require(first["mfaInfo"]?.array?.first)
      #expect(info["phoneInfo"] == "+*********5678")
      let credential = JSON.string(first.text("mfaPendingCredential"))
      let sent = try await one.v2(
        "mfaSignIn:start",
        ["mfaPendingCredential": credential, "mfaEnrollmentId": info["mfaEnrollmentId"] ?? .null, "phoneSignInInfo": [:]])
      let second = try #require(sent["phoneResponseInfo"]?["sessionInfo"])
      let done = try await one.v2(
        "mfaSignIn:finalize",
        [
          "mfaPendingCredential": credential,
          "phoneVerificationInfo": ["sessionInfo": second, "code": .string(try await one.lastPhoneCode())],
        ])
      #expect(done.claims["firebase"]?["sign_in_second_factor"] == "phone")
      #expect(done.claims["phone_number"] == nil)
    }
  }

  @Test("Every other way in asks for it too: a link in a mail, an identity at a provider; a telephone alone is no way in")
  func everyWay() async throws {
    try await run { one in
      let player = try await one.verifiedPlayer("jim@x.io")
      let linked = try await one.client.provider(["sub": "g1", "email": "jim@x.io"], token: player.text("idToken"))
      _ = try await one.enrolAuthenticator(linked)
      let byProvider = try await one.client.provider(["sub": "g1", "email": "jim@x.io"])
      #expect(byProvider["idToken"] == nil && byProvider["mfaPendingCredential"] != nil)
      _ = try await one.client.call(
        "accounts:sendOobCode", ["requestType": "EMAIL_SIGNIN", "email": "jim@x.io", "continueUrl": "http://localhost/"])
      let byLink = try await one.client.call(
        "accounts:signInWithEmailLink", ["email": "jim@x.io", "oobCode": .string(try await one.client.lastCode())])
      #expect(byLink["idToken"] == nil && byLink["mfaPendingCredential"] != nil)

      _ = try await one.client.admin(
        "accounts:update", ["localId": .string(player.text("localId")), "phoneNumber": "+4915112345678"])
      let sent = try await one.client.call("accounts:sendVerificationCode", ["phoneNumber": "+4915112345678"])
      #expect(sent.error.hasPrefix("UNSUPPORTED_FIRST_FACTOR"))
    }
  }

  @Test(
    "Who may enrol, and what: a verified address, a credential that can be stolen, five at most; and what is missing is named")
  func refusals() async throws {
    try await run { one in
      let start = { (token: String) in
        try await one.v2("mfaEnrollment:start", ["idToken": .string(token), "totpEnrollmentInfo": [:]]).error
      }
      #expect(try await one.v2("mfaEnrollment:start", ["totpEnrollmentInfo": [:]]).error == "MISSING_ID_TOKEN")
      #expect(try await start(one.client.anonymous().text("idToken")).hasPrefix("UNSUPPORTED_FIRST_FACTOR"))
      #expect(try await start(one.client.player("new@x.io").text("idToken")).hasPrefix("UNVERIFIED_EMAIL"))
      let player = try await one.verifiedPlayer("jim@x.io")
      #expect(
        try await one.v2("mfaEnrollment:start", ["idToken": .string(player.text("idToken"))]).error
          == "INVALID_ARGUMENT : ((Missing phoneEnrollmentInfo or totpEnrollmentInfo.))")
      var last = player
      for _ in 0..<5 {
        one.server.clock.advance(by: 30_000)
        last = try await one.enrolAuthenticator(last).1
      }
      #expect(try await start(last.text("idToken")) == "SECOND_FACTOR_LIMIT_EXCEEDED")
      #expect(try await one.v2("mfaSignIn:finalize", [:]).error == "MISSING_MFA_PENDING_CREDENTIAL")
      #expect(
        try await one.v2("mfaSignIn:start", ["mfaPendingCredential": "x", "mfaEnrollmentId": "y"]).error
          == "INVALID_MFA_PENDING_CREDENTIAL")
    }
  }

  @Test("A factor is withdrawn by its player, and replaced or taken away by an administrator")
  func withdrawal() async throws {
    try await run { one in
      let player = try await one.verifiedPlayer("jim@x.io")
      let (secret, enrolled) = try await one.enrolAuthenticator(player)
      let id = try #require(enrolled.claims["firebase"]?["second_factor_identifier"]?.string)
      let token = JSON.string(enrolled.text("idToken"))
      #expect(try await one.v2("mfaEnrollment:withdraw", ["idToken": token]).error == "MISSING_MFA_ENROLLMENT_ID")
      #expect(
        try await one.v2("mfaEnrollment:withdraw", ["idToken": token, "mfaEnrollmentId": "x"]).error
          == "MFA_ENROLLMENT_NOT_FOUND")
      let uid = JSON.string(player.text("localId"))
      // An administrator keeps it by its id, and adds a number.
      let both: JSON = [
        ["mfaEnrollmentId": .string(id), "displayName": "kept", "totpInfo": [:]],
        ["phoneInfo": "+4915112345678", "enrolledAt": "2026-01-31T12:00:00.5Z"],
      ]
      #expect(try await one.client.admin("accounts:update", ["localId": uid, "mfa": ["enrollments": both]]).status == 200)
      let seen = try await one.client.admin("accounts:lookup", ["localId": [uid]])["users"]?.array?.first?["mfaInfo"]?.array
      #expect(seen?.map { $0["displayName"]?.string ?? "" } == ["kept", ""])
      #expect(seen?.last?["enrolledAt"] == "2026-01-31T12:00:00.500Z")
      #expect(seen?.last?["phoneInfo"] == "+4915112345678")
      one.server.clock.advance(by: 30_000)
      let first = try await one.client.signIn("jim@x.io")
      #expect(try await one.finish(first, id, one.code(secret)).status == 200)

      let without = try await one.v2("mfaEnrollment:withdraw", ["idToken": token, "mfaEnrollmentId": .string(id)])
      #expect(without.claims["firebase"]?["sign_in_second_factor"] == nil)
      let pending = try await one.client.signIn("jim@x.io")
      #expect(pending["mfaInfo"]?.array?.count == 1)
      _ = try await one.client.admin("accounts:update", ["localId": uid, "mfa": [:]])
      #expect(try await one.client.signIn("jim@x.io").claims["user_id"] == uid)
      let bad: JSON = ["localId": uid, "mfa": ["enrollments": [["totpInfo": [:]]]]]
      #expect(try await one.client.admin("accounts:update", bad).status == 400)
    }
  }

  @Test("Who lost the telephone gets in by the password again, once an administrator took the factors; sessions end")
  func removal() async throws {
    try await run { one in
      let player = try await one.verifiedPlayer("jim@x.io")
      let (_, enrolled) = try await one.enrolAuthenticator(player)
      one.server.clock.advance(by: 2000)
      let path = "/admin/v1/accounts/\(player.text("localId"))/second-factors"
      #expect(try await one.client.send("DELETE", path).status == 401)
      let answer = try await one.client.send("DELETE", path, headers: IdentityClient.owner)
      #expect(answer.status == 200 && answer["mfaInfo"] == nil)
      #expect(try await one.client.refresh(enrolled.text("refreshToken")).error == "TOKEN_EXPIRED")
      #expect(try await one.client.signIn("jim@x.io").status == 200)
      let missing = try await one.client.send(
        "DELETE", "/admin/v1/accounts/nobody/second-factors", headers: IdentityClient.owner)
      #expect(missing.status == 404)
    }
  }

  @Test("What an export has of second factors an import takes: the authenticator still opens the account")
  func export() async throws {
    var users: JSON = .null
    var shared = AuthenticatorSecret(bytes: [])
    try await run { one in
      shared = try await one.enrolAuthenticator(try await one.verifiedPlayer("jim@x.io")).0
      let page = try await one.client.send("GET", "/v1/projects/game/accounts:batchGet", headers: IdentityClient.owner)
      users = page["users"] ?? .null
      #expect(users.array?.first?["mfaInfo"]?.array?.first?["totpInfo"]?["sharedSecretKey"]?.string == shared.text)
    }
    let (taken, secret) = (users, shared)
    try await run { one in
      #expect(try await one.client.admin("accounts:batchCreate", ["users": taken])["error"] == nil)
      let first = try await one.client.signIn("jim@x.io")
      let id = try #require(first["mfaInfo"]?.array?.first?["mfaEnrollmentId"]?.string)
      #expect(try await one.finish(first, id, one.code(secret)).status == 200)
    }
  }

  @Test(
    "In production nothing is enrolled until an administrator allows it; then authenticators work, and the change asks for a recent sign-in"
  )
  func production() async throws {
    var kind = AccountKind.production
    kind.options.signUpsPerHour = nil
    try await run(kind) { one in
      let made = try await one.client.player("jim@x.io")
      _ = try await one.client.admin(
        "accounts:update", ["localId": .string(made.text("localId")), "emailVerified": true])
      let player = try await one.client.signIn("jim@x.io")
      let start: JSON = ["idToken": .string(player.text("idToken")), "totpEnrollmentInfo": [:]]
      #expect(try await one.v2("mfaEnrollment:start", start).error.hasPrefix("OPERATION_NOT_ALLOWED"))
      let config: JSON = [
        "mfa": [
          "state": "ENABLED",
          "providerConfigs": [["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": 1]]],
        ]
      ]
      let path = "/v2/projects/game/config"
      let set = try await one.client.send("PATCH", path + "?updateMask=mfa", config, headers: IdentityClient.owner)
      #expect(set["mfa"] == config["mfa"])
      let (secret, enrolled) = try await one.enrolAuthenticator(player)
      let id = try #require(enrolled.claims["firebase"]?["second_factor_identifier"]?.string)
      one.server.clock.advance(by: 400_000)
      let late: JSON = ["idToken": .string(enrolled.text("idToken")), "mfaEnrollmentId": .string(id)]
      #expect(try await one.v2("mfaEnrollment:withdraw", late).error == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
      // Nobody's account becomes less safe by a setting.
      _ = try await one.client.send(
        "PATCH", path + "?updateMask=mfa", ["mfa": ["state": "DISABLED"]], headers: IdentityClient.owner)
      let first = try await one.client.signIn("jim@x.io")
      #expect(first["idToken"] == nil)
      #expect(try await one.finish(first, id, one.code(secret)).status == 200)
    }
  }

  @Test("What changed between the first credential and the second makes the first void; so does time")
  func stale() async throws {
    try await run { one in
      let player = try await one.verifiedPlayer("jim@x.io")
      let (secret, enrolled) = try await one.enrolAuthenticator(player)
      let id = try #require(enrolled.claims["firebase"]?["second_factor_identifier"]?.string)
      let uid = JSON.string(player.text("localId"))
      one.server.clock.advance(by: 60_000)
      let first = try await one.client.signIn("jim@x.io")
      _ = try await one.client.admin("accounts:update", ["localId": uid, "password": "another1"])
      #expect(try await one.finish(first, id, one.code(secret)).error == "INVALID_MFA_PENDING_CREDENTIAL")
      let second = try await one.client.signIn("jim@x.io", "another1")
      one.server.clock.advance(by: 600_001)
      #expect(try await one.finish(second, id, one.code(secret)).error == "INVALID_MFA_PENDING_CREDENTIAL")
      let third = try await one.client.signIn("jim@x.io", "another1")
      _ = try await one.client.admin("accounts:update", ["localId": uid, "disableUser": true])
      #expect(try await one.finish(third, id, one.code(secret)).error == "USER_DISABLED")
    }
  }
}
