import ServerTestSupport
import StorageCore
import Testing
import TextFormats
import TreeModel

@testable import HTTPServer
@testable import IdentityAPI

/// Identities elsewhere, links in mails, telephones.
struct ProviderTests {
  private func run(_ test: (APIServer, IdentityClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: .development) { server in try await test(server, IdentityClient(server: server)) }
  }

  private func user(_ client: IdentityClient, _ answer: IdentityClient.Answer) async throws -> JSON {
    try await client.lookup(answer.text("idToken"))["users"]?.array?.first ?? .null
  }

  @Test("23, 24: an answer names the identity by its address at the provider, and says nothing of a new user in a link")
  func link() async throws {
    try await run { _, client in
      let made = try await client.anonymous()
      let linked = try await client.provider(
        ["sub": "g1", "email": "jim@x.io", "email_verified": true], token: made.text("idToken"))
      #expect(linked.text("localId") == made.text("localId"))
      #expect(linked["isNewUser"] == nil)
      #expect(linked.text("federatedId") == "https://accounts.google.com/g1")
      #expect(try await user(client, linked)["providerUserInfo"]?.array?.first?["rawId"] == "g1")
    }
  }

  @Test("25, 26, 27: a conflict is an error, or with returnIdpCredential an answer with the credential and without tokens")
  func conflicts() async throws {
    try await run { _, client in
      _ = try await client.provider(["sub": "g1", "email": "ann@x.io", "email_verified": true])
      let made = try await client.anonymous()
      let taken = try await client.provider(["sub": "g1"], token: made.text("idToken"))
      #expect(taken.status == 400)
      #expect(taken.error == "FEDERATED_USER_ID_ALREADY_LINKED")
      let told = try await client.provider(
        ["sub": "g1", "email": "ann@x.io"], token: made.text("idToken"), returnsConflict: true)
      #expect(told.status == 200)
      #expect(told.text("errorMessage") == "FEDERATED_USER_ID_ALREADY_LINKED")
      #expect(!told.text("oauthIdToken").isEmpty)
      #expect(told["idToken"] == nil)
      #expect(told["localId"] == nil)
    }
  }

  @Test("28: whose address a provider does not vouch for is asked to confirm it, by the ways in that the account has")
  func sameAddress() async throws {
    try await run { _, client in
      _ = try await client.player("a@x.io")
      let clash = try await client.provider(["sub": "g0", "email": "a@x.io"])
      #expect(clash.status == 200)
      #expect(clash["needConfirmation"] == true)
      #expect(clash["verifiedProvider"] == ["password"])
      #expect(clash["idToken"] == nil)
    }
  }

  @Test("31: a normal answer has no field whose mere presence means something")
  func presence() async throws {
    try await run { _, client in
      for answer in [try await client.anonymous(), try await client.provider(["sub": "g1"])] {
        for name in ["needConfirmation", "errorMessage", "mfaPendingCredential", "phoneNumber"] { #expect(answer[name] == nil) }
      }
    }
  }

  @Test("32, 33: a bad address or subject is named; the credential may stand in the address")
  func requests() async throws {
    try await run { _, client in
      let body = "providerId=google.com&id_token=%7B%22sub%22%3A%22x%22%7D"
      #expect(try await client.call("accounts:signInWithIdp", ["postBody": .string(body)]).error == "MISSING_REQUEST_URI")
      #expect(
        try await client.call("accounts:signInWithIdp", ["requestUri": "nowhere", "postBody": .string(body)]).error
          == "INVALID_REQUEST_URI")
      #expect(try await client.provider(["sub": 7]).error.hasPrefix("INVALID_IDP_RESPONSE"))
      let inAddress = try await client.call(
        "accounts:signInWithIdp", ["requestUri": .string("http://localhost/back?\(body)")])
      #expect(inAddress.status == 200)
      #expect(inAddress["isNewUser"] == true)
    }
  }

  @Test("In development every sign-in by a provider gives an access token, which signs the same player in again")
  func accessTokenAsCredential() async throws {
    try await run { _, client in
      let made = try await client.provider(["sub": "f1", "email": "jim@x.io"], "facebook.com")
      let token = PercentEncoding.encode(made.text("oauthAccessToken"))
      let again = try await client.call(
        "accounts:signInWithIdp",
        ["requestUri": "http://localhost", "postBody": .string("providerId=facebook.com&access_token=\(token)")])
      #expect(again.text("localId") == made.text("localId"))
      #expect(again.text("oauthAccessToken") == made.text("oauthAccessToken"))
      let clash = try await client.provider(["sub": "f2", "email": "jim@x.io"], "github.com")
      #expect(clash["needConfirmation"] == true)
      #expect(clash.text("oauthAccessToken") == #"{"sub":"f2","email":"jim@x.io"}"#)
    }
  }

  @Test("34: a link in a mail is asked for and used by the protocol's names, and says whether the player is new")
  func emailLink() async throws {
    try await run { _, client in
      for isNew in [true, false] {
        _ = try await client.call(
          "accounts:sendOobCode", ["requestType": "EMAIL_SIGNIN", "email": "jim@x.io", "continueUrl": "http://localhost/a"])
        let code = JSON.string(try await client.lastCode())
        let made = try await client.call("accounts:signInWithEmailLink", ["email": "JIM@x.io", "oobCode": code])
        #expect(made.text("kind") == "identitytoolkit#EmailLinkSigninResponse" && made.text("email") == "jim@x.io")
        #expect(made["isNewUser"] == .bool(isNew))
        #expect(made.claims["user_id"] == made["localId"])
      }
      #expect(try await client.call("accounts:signInWithEmailLink", ["email": "jim@x.io"]).error == "MISSING_OOB_CODE")
    }
  }

  @Test("35: a telephone's code goes by its session; a number of somebody else is answered with a proof")
  func phone() async throws {
    try await run { _, client in
      func code() async throws -> JSON {
        _ = try await client.call("accounts:sendVerificationCode", ["phoneNumber": "+15550100"])
        let codes = try await client.send("GET", "/emulator/v1/projects/game/verificationCodes")["verificationCodes"]
        return codes?.array?.last ?? .null
      }
      func body(_ code: JSON, _ token: String?) -> JSON {
        .record([("sessionInfo", code["sessionInfo"]), ("code", code["code"]), ("idToken", token.map(JSON.string))])
      }
      let made = try await client.call("accounts:signInWithPhoneNumber", body(try await code(), nil))
      #expect(made["isNewUser"] == true && made.text("phoneNumber") == "+15550100")
      let other = try await client.anonymous()
      let taken = try await client.call("accounts:signInWithPhoneNumber", body(try await code(), other.text("idToken")))
      #expect(taken.status == 200)
      #expect(taken["idToken"] == nil)
      #expect(taken.text("temporaryProofExpiresIn") == "300")
      let proof: JSON = ["temporaryProof": .string(taken.text("temporaryProof")), "phoneNumber": "+15550100"]
      #expect(try await client.call("accounts:signInWithPhoneNumber", proof).text("localId") == made.text("localId"))
      #expect(try await client.call("accounts:signInWithPhoneNumber").error == "MISSING_SESSION_INFO")
    }
  }

  @Test("36, 37, 39: a change says what the account is now; what goes is named by text or by number")
  func profile() async throws {
    try await run { server, client in
      let made = try await client.anonymous()
      let token = JSON.string(made.text("idToken"))
      let named = try await client.call("accounts:update", ["idToken": token, "displayName": "Jim", "photoUrl": "http://p"])
      #expect(named["idToken"] == nil)
      #expect(named.text("displayName") == "Jim")
      let cleared = try await client.call("accounts:update", ["idToken": token, "deleteAttribute": ["DISPLAY_NAME", 4]])
      #expect(cleared["displayName"] == nil)
      #expect(cleared["photoUrl"] == nil)
      let secured = try await client.call("accounts:update", ["idToken": token, "email": "jim@x.io", "password": "secret1"])
      #expect(secured.text("newEmail") == "jim@x.io" && secured["emailVerified"] == false)
      #expect(secured["providerUserInfo"]?.array?.count == 1)
      let bare = try await client.call(
        "accounts:update", ["idToken": .string(secured.text("idToken")), "deleteProvider": ["password"]])
      #expect(bare["providerUserInfo"] == nil)
      #expect(bare["email"] == nil)
    }
  }

  @Test("38: a change of address is taken back by the code alone")
  func recovery() async throws {
    try await run { server, client in
      let made = try await client.player("old@x.io")
      let changed = try await client.call("accounts:update", ["idToken": .string(made.text("idToken")), "email": "new@x.io"])
      #expect(changed.text("newEmail") == "new@x.io")
      let codes = try await client.send("GET", "/emulator/v1/projects/game/oobCodes")["oobCodes"]?.array ?? []
      #expect(codes.last?["requestType"] == "RECOVER_EMAIL")
      #expect(codes.last?["email"] == "old@x.io")
      let restored = try await client.call("accounts:update", ["oobCode": codes.last?["oobCode"] ?? .null])
      #expect(restored.text("email") == "old@x.io")
    }
  }
}
