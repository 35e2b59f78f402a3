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

  @Test("An authenticator's secret is given once; a sign-in that waits for its code has no tokens, and names the factor")
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
      // Two more ways in that may wait.
      let byProvider = try await one.client.provider(["sub": "g1", "email": "jim@x.io", "email_verified": true])
      #expect(byProvider["idToken"] == nil && byProvider["mfaPendingCredential"] != nil)
      _ = try await one.client.call(
        "accounts:sendOobCode", ["requestType": "EMAIL_SIGNIN", "email": "jim@x.io", "continueUrl": "http://localhost/"])
      let byLink = try await one.client.call(
        "accounts:signInWithEmailLink", ["email": "jim@x.io", "oobCode": .string(try await one.client.lastCode())])
      #expect(byLink["idToken"] == nil && byLink["mfaPendingCredential"] != nil)
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

  @Test("What is missing is named")
  func missing() async throws {
    try await run { one in
      #expect(try await one.v2("mfaEnrollment:start", ["totpEnrollmentInfo": [:]]).error == "MISSING_ID_TOKEN")
      let player = try await one.verifiedPlayer("jim@x.io")
      let token = JSON.string(player.text("idToken"))
      #expect(
        try await one.v2("mfaEnrollment:start", ["idToken": token]).error
          == "INVALID_ARGUMENT : ((Missing phoneEnrollmentInfo or totpEnrollmentInfo.))")
      #expect(try await one.v2("mfaSignIn:finalize", [:]).error == "MISSING_MFA_PENDING_CREDENTIAL")
      #expect(
        try await one.v2("mfaSignIn:start", ["mfaPendingCredential": "x", "mfaEnrollmentId": "y"]).error
          == "INVALID_MFA_PENDING_CREDENTIAL")
      #expect(try await one.v2("mfaEnrollment:withdraw", ["idToken": token]).error == "MISSING_MFA_ENROLLMENT_ID")
      let rows: [(JSON, String)] = [
        ([:], "INVALID_ARGUMENT : ((Missing phoneVerificationInfo or totpVerificationInfo.))"),
        (["totpVerificationInfo": ["verificationCode": "1"]], "MISSING_SESSION_INFO"),
        (["totpVerificationInfo": ["sessionInfo": "x"]], "MISSING_CODE"),
        (["phoneVerificationInfo": ["sessionInfo": "x"]], "MISSING_CODE"),
      ]
      for (fields, error) in rows {
        let body = JSON.object([JSON.Member(key: "idToken", value: token)] + (fields.object ?? []))
        #expect(try await one.v2("mfaEnrollment:finalize", body).error == error)
      }
    }
  }

  @Test("An administrator keeps a factor by its id, adds a number, and takes all away, in the protocol's form")
  func administrators() async throws {
    try await run { one in
      let player = try await one.verifiedPlayer("jim@x.io")
      let (_, enrolled) = try await one.enrolAuthenticator(player)
      let id = try #require(enrolled.claims["firebase"]?["second_factor_identifier"]?.string)
      let uid = JSON.string(player.text("localId"))
      let both: JSON = [
        ["mfaEnrollmentId": .string(id), "displayName": "kept", "totpInfo": [:]],
        ["phoneInfo": "+4915112345678", "enrolledAt": "2026-01-31T12:00:00.5Z"],
      ]
      #expect(try await one.client.admin("accounts:update", ["localId": uid, "mfa": ["enrollments": both]]).status == 200)
      func listed() async throws -> [JSON]? {
        try await one.client.admin("accounts:lookup", ["localId": [uid]])["users"]?.array?.first?["mfaInfo"]?.array
      }
      let seen = try await listed()
      #expect(seen?.map { $0["displayName"]?.string ?? "" } == ["kept", ""])
      #expect(seen?.last?["enrolledAt"] == "2026-01-31T12:00:00.500Z")
      #expect(seen?.last?["phoneInfo"] == "+4915112345678")
      let token = JSON.string(enrolled.text("idToken"))
      let without = try await one.v2("mfaEnrollment:withdraw", ["idToken": token, "mfaEnrollmentId": .string(id)])
      #expect(without.claims["firebase"]?["sign_in_second_factor"] == nil && !without.text("refreshToken").isEmpty)
      #expect(try await listed()?.count == 1)
      _ = try await one.client.admin("accounts:update", ["localId": uid, "mfa": [:]])
      #expect(try await listed() == nil)
      let bad: JSON = ["localId": uid, "mfa": ["enrollments": [["totpInfo": [:]]]]]
      #expect(try await one.client.admin("accounts:update", bad).status == 400)
    }
  }

  @Test("An administrator's way to take a player's factors is a DELETE, which strangers are refused")
  func removal() async throws {
    try await run { one in
      let player = try await one.verifiedPlayer("jim@x.io")
      _ = try await one.enrolAuthenticator(player)
      let path = "/admin/v1/accounts/\(player.text("localId"))/second-factors"
      #expect(try await one.client.send("DELETE", path).status == 401)
      let answer = try await one.client.send("DELETE", path, headers: IdentityClient.owner)
      #expect(answer.status == 200 && answer["mfaInfo"] == nil)
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
      // A row without the member leaves what is there, an empty list takes it away.
      let user = taken.array?.first?.object?.filter { $0.key != "mfaInfo" } ?? []
      #expect(try await one.client.admin("accounts:batchCreate", ["users": [.object(user)]])["error"] == nil)
      #expect(try await one.client.signIn("jim@x.io")["mfaPendingCredential"] != nil)
      let none = JSON.object(user + [JSON.Member(key: "mfaInfo", value: [])])
      _ = try await one.client.admin("accounts:batchCreate", ["users": [none]])
      #expect(try await one.client.signIn("jim@x.io")["idToken"] != nil)
    }
  }

  @Test("What players may enrol is set in the project's configuration, and answered as it was set")
  func configuration() async throws {
    try await run(.production) { one in
      let config: JSON = [
        "mfa": ["state": "ENABLED", "providerConfigs": [["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": 1]]]]
      ]
      let path = "/v2/projects/game/config"
      let set = try await one.client.send("PATCH", path + "?updateMask=mfa", config, headers: IdentityClient.owner)
      #expect(set["mfa"] == config["mfa"])
      let made = try await one.client.player("jim@x.io")
      _ = try await one.client.admin("accounts:update", ["localId": .string(made.text("localId")), "emailVerified": true])
      let (_, enrolled) = try await one.enrolAuthenticator(made)
      _ = try await one.client.send(
        "PATCH", path + "?updateMask=mfa", ["mfa": ["state": "DISABLED"]], headers: IdentityClient.owner)
      let start: JSON = ["idToken": .string(enrolled.text("idToken")), "totpEnrollmentInfo": [:]]
      #expect(try await one.v2("mfaEnrollment:start", start).error == "OPERATION_NOT_ALLOWED : TOTP based MFA not enabled.")
    }
  }
}
