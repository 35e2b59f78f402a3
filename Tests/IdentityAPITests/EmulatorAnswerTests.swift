import Accounts
import Credentials
import ServerTestSupport
import StorageCore
import Testing
import TextFormats
import TreeModel

@testable import HTTPServer
@testable import IdentityAPI

/// What `doubloon dev` answers as Firebase's emulator does, and the same question where it is decided more strictly.
struct EmulatorAnswerTests {
  /// Asks both servers.
  ///
  /// - `test`: gets a client, and whether its server follows the emulator.
  private func runBoth(_ test: (IdentityClient, Bool) async throws -> Void) async throws {
    for follows in [true, false] {
      var kind = AccountKind.development
      kind.options.followsEmulator = follows
      try await APIServer.run(accounts: kind) { server in try await test(IdentityClient(server: server), follows) }
    }
  }

  @Test("a player may claim an identity at a provider where everybody is believed, and nowhere else")
  func claimedIdentity() async throws {
    try await runBoth { client, follows in
      let token = JSON.string(try await client.player("jim@x.io").text("idToken"))
      let identity: JSON = ["providerId": "google.com", "rawId": "g1", "email": "jim@x.io"]
      let linked = try await client.call("accounts:update", ["idToken": token, "linkProviderUserInfo": identity])
      #expect(linked.error == (follows ? "" : "INSUFFICIENT_PERMISSION"))
      #expect(linked["providerUserInfo"]?.array?.count == (follows ? 2 : nil))
      guard follows else { return }
      for (missing, error) in [("rawId", "MISSING_RAW_ID"), ("providerId", "MISSING_PROVIDER_ID")] {
        let part = JSON.object(identity.object?.filter { $0.key != missing } ?? [])
        let refused = try await client.call("accounts:update", ["idToken": token, "linkProviderUserInfo": part])
        #expect(refused.error == error)
      }
      let other = JSON.string(try await client.player("ann@x.io").text("idToken"))
      let taken = try await client.call("accounts:update", ["idToken": other, "linkProviderUserInfo": identity])
      #expect(taken.error == "FEDERATED_USER_ID_ALREADY_LINKED")
    }
  }

  @Test("a link in a mail leaves the password of an address that nobody had confirmed to emulators' players only")
  func linkInMail() async throws {
    try await runBoth { client, follows in
      _ = try await client.player("jim@x.io")
      let asked: JSON = ["requestType": "EMAIL_SIGNIN", "email": "jim@x.io"]
      #expect(try await client.call("accounts:sendOobCode", asked).status == 200)
      let code = JSON.string(try await client.lastCode())
      let entered = try await client.call("accounts:signInWithEmailLink", ["email": "jim@x.io", "oobCode": code])
      #expect(entered.status == 200)
      #expect(try await client.signIn("jim@x.io").error == (follows ? "" : "INVALID_PASSWORD"))
    }
  }

  @Test("a code for an address that somebody else took meanwhile is used up by an emulator, and waits elsewhere")
  func takenAddress() async throws {
    try await runBoth { client, follows in
      let token = JSON.string(try await client.player("old@x.io").text("idToken"))
      let asked: JSON = ["requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": token, "newEmail": "new@x.io"]
      #expect(try await client.call("accounts:sendOobCode", asked).status == 200)
      let code = JSON.string(try await client.lastCode())
      _ = try await client.player("new@x.io")
      #expect(try await client.call("accounts:update", ["oobCode": code]).error == "EMAIL_EXISTS")
      let again = try await client.call("accounts:update", ["oobCode": code])
      #expect(again.error == (follows ? "INVALID_OOB_CODE" : "EMAIL_EXISTS"))
    }
  }

  @Test("an account is found by its address at a provider by emulators only")
  func providersAddress() async throws {
    try await runBoth { client, follows in
      _ = try await client.provider(["sub": "g1", "email": "first@x.io"])
      _ = try await client.provider(["sub": "g1", "email": "second@x.io"])
      let found = try await client.call(
        "accounts:createAuthUri", ["identifier": "second@x.io", "continueUri": "http://localhost"])
      #expect(found["registered"] == .bool(follows))
      #expect(found["signinMethods"] == (follows ? ["google.com"] : []))
    }
  }

  @Test("an emulator's import overwrites where it says so, and an administrator's list of factors names each")
  func administration() async throws {
    try await runBoth { client, follows in
      let uid = JSON.string(try await client.player("jim@x.io").text("localId"))
      let row: JSON = ["users": [["localId": uid, "email": "jim@x.io", "emailVerified": true]]]
      let imported = try await client.admin("accounts:batchCreate", row)
      #expect(imported["error"]?.array?.count == (follows ? 1 : nil))
      let told = JSON.object((row.object ?? []) + [JSON.Member(key: "allowOverwrite", value: true)])
      #expect(try await client.admin("accounts:batchCreate", told)["error"] == nil)
      let factors: JSON = ["enrollments": [["phoneInfo": "+15555550100"]]]
      let enrolled = try await client.admin("accounts:update", ["localId": uid, "mfa": factors])
      #expect(enrolled.error == (follows ? "INVALID_MFA_ENROLLMENT_ID : mfaEnrollmentId must be defined." : ""))
    }
  }

  @Test("an identity is linked before the second factor is shown by emulators only")
  func secondFactor() async throws {
    try await runBoth { client, follows in
      let made = try await client.admin(
        "accounts", ["email": "jim@x.io", "emailVerified": true, "mfaInfo": [["phoneInfo": "+15555550100"]]])
      let uid = JSON.string(made.text("localId"))
      let waiting = try await client.provider(["sub": "g1", "email": "jim@x.io", "email_verified": true, "name": "Jim"])
      #expect(!waiting.text("mfaPendingCredential").isEmpty && waiting["idToken"] == nil)
      let user = try await client.admin("accounts:lookup", ["localId": [uid]])["users"]?.array?.first
      #expect(user?["displayName"]?.string == (follows ? "Jim" : nil))
    }
  }

  @Test("a mask that leads into a setting changes nothing where it is passed over, and is refused elsewhere")
  func masks() async throws {
    try await runBoth { client, follows in
      let tenants = "/identitytoolkit.googleapis.com/v2/projects/game/tenants"
      let tenant = try await client.send("POST", tenants, ["displayName": "Brand"], headers: IdentityClient.owner)
      let path = "\(tenants)/\(tenant.text("tenantId"))?updateMask=displayName.0"
      let answer = try await client.send("PATCH", path, ["displayName": "other"], headers: IdentityClient.owner)
      #expect(answer.status == (follows ? 200 : 400))
      #expect(answer["displayName"]?.string == (follows ? "Brand" : nil))
    }
  }

  @Test("the refresh token of a tenant's player says whose it is where tools look for it, and works all the same")
  func refreshTokens() async throws {
    try await runBoth { client, follows in
      let made = try await client.call("accounts:signUp", ["email": "jim@x.io", "password": "secret1", "tenantId": "ape"])
      let token = made.text("refreshToken")
      let said = Base64.decode(token.utf8).flatMap { try? JSONParser.parse($0) }
      #expect(said?["tenantId"]?.string == (follows ? "ape" : nil))
      let refreshed = try await client.refresh(token)
      #expect(refreshed.status == 200 && refreshed.text("refresh_token") == token)
      #expect(refreshed.claims["firebase"]?["tenant"] == "ape")
      // What it says is not believed: the session's account is looked at.
      let forged = Base64.encode(Array(#"{"tenantId":"bee","token":"x"}"#.utf8), as: .url)
      #expect(try await client.refresh(forged).error == "INVALID_REFRESH_TOKEN")
    }
  }

  @Test("a custom token of plain JSON need not name the tenant for an emulator; one of another tenant is refused everywhere")
  func customTokens() async throws {
    try await runBoth { client, follows in
      let signed = WebToken.unsigned([
        "aud": "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit", "uid": "bob",
      ])
      let cases: [(token: String, isTaken: Bool)] = [
        (#"{"uid":"bob"}"#, follows), (#" {"uid":"bob"}"#, follows), (#"{"uid":"bob","tenant_id":"ape"}"#, true),
        (#"{"uid":"bob","tenant_id":"bee"}"#, false), (#"{"uid":"bob","tenant_id":null}"#, follows), (signed, false),
      ]
      for (token, isTaken) in cases {
        let answer = try await client.call(
          "accounts:signInWithCustomToken", ["token": .string(token), "tenantId": "ape"])
        #expect(answer.error == (isTaken ? "" : "TENANT_ID_MISMATCH"), "\(token)")
        if isTaken { #expect(answer.claims["firebase"]?["tenant"] == "ape") }
      }
      #expect(try await client.call("accounts:signInWithCustomToken", ["token": #"{"uid":"eve"}"#]).error == "")
    }
  }

  @Test("the configuration names ways to sign in that are off; what was read can be sent back")
  func configuration() async throws {
    try await runBoth { client, follows in
      let path = "/identitytoolkit.googleapis.com/v2/projects/game/config"
      let first = try await client.send("GET", path, headers: IdentityClient.owner)
      #expect(first["blockingFunctions"] == [:])
      #expect((first["signIn"]?["anonymous"] == nil) == follows)
      let forward: JSON = ["forwardInboundCredentials": ["idToken": true]]
      let body: JSON = ["signIn": ["anonymous": ["enabled": false]], "blockingFunctions": forward]
      let changed = try await client.send("PATCH", path, body, headers: IdentityClient.owner)
      #expect(changed["signIn"]?["anonymous"]?["enabled"] == false && changed["blockingFunctions"] == forward)
      let again = try await client.send("PATCH", path, changed.json, headers: IdentityClient.owner)
      #expect(again.json == changed.json)
      let refused = try await client.send(
        "PATCH", path, ["blockingFunctions": ["forwardInboundCredentials": ["refreshToken": true]]],
        headers: IdentityClient.owner)
      #expect(refused.error.hasPrefix("INVALID_BLOCKING_FUNCTION"))
    }
  }
}
