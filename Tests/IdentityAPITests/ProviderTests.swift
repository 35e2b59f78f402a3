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

  @Test("23, 24: a link with an identity keeps the uid; its address is taken over only where there is none")
  func link() async throws {
    try await run { _, client in
      let made = try await client.anonymous()
      let linked = try await client.provider(
        ["sub": "g1", "email": "jim@x.io", "email_verified": true], token: made.text("idToken"))
      #expect(linked.text("localId") == made.text("localId"))
      #expect(linked.claims["firebase"]?["identities"]?["google.com"] == ["g1"])
      #expect(linked.claims["firebase"]?["sign_in_provider"] == "google.com")
      #expect(linked["isNewUser"] == nil)
      #expect(linked.text("federatedId") == "https://accounts.google.com/g1")
      let again = try await client.provider(
        ["sub": "o1", "email": "other@x.io"], "oidc.guild", token: linked.text("idToken"))
      #expect(again.text("localId") == made.text("localId"))
      #expect(try await user(client, again)["email"] == "jim@x.io")
    }
  }

  @Test("25, 26, 27: an identity or an address of somebody else is a conflict; returnIdpCredential makes it an answer")
  func conflicts() async throws {
    try await run { _, client in
      let owner = try await client.provider(["sub": "g1", "email": "ann@x.io", "email_verified": true])
      let made = try await client.anonymous()
      let taken = try await client.provider(["sub": "g1"], token: made.text("idToken"))
      #expect(taken.status == 400)
      #expect(taken.error == "FEDERATED_USER_ID_ALREADY_LINKED")
      #expect(
        try await client.provider(["sub": "g1"], token: owner.text("idToken")).error == "FEDERATED_USER_ID_ALREADY_LINKED")
      let told = try await client.provider(
        ["sub": "g1", "email": "ann@x.io"], token: made.text("idToken"), returnsConflict: true)
      #expect(told.status == 200)
      #expect(told.text("errorMessage") == "FEDERATED_USER_ID_ALREADY_LINKED")
      #expect(!told.text("oauthIdToken").isEmpty)
      #expect(told["idToken"] == nil)
      #expect(told["localId"] == nil)
      let address = try await client.provider(["sub": "g2", "email": "ann@x.io"], token: made.text("idToken"))
      #expect(address.error == "EMAIL_EXISTS")
    }
  }

  @Test("28, 29, 30: who proves an address gets its account, and drops what an unproved owner set")
  func sameAddress() async throws {
    try await run { _, client in
      let unproved = try await client.player("a@x.io")
      let clash = try await client.provider(["sub": "g0", "email": "a@x.io"])
      #expect(clash.status == 200)
      #expect(clash["needConfirmation"] == true)
      #expect(clash["verifiedProvider"] == ["password"])
      #expect(clash["idToken"] == nil)
      let proved = try await client.provider(["sub": "g1", "email": "a@x.io", "email_verified": true])
      #expect(proved.text("localId") == unproved.text("localId"))
      #expect(try await client.signIn("a@x.io").error == "INVALID_PASSWORD")
      let kept = try await client.player("b@x.io")
      _ = try await client.admin("accounts:update", ["localId": .string(kept.text("localId")), "emailVerified": true])
      _ = try await client.provider(["sub": "g2", "email": "b@x.io", "email_verified": true])
      #expect(try await client.signIn("b@x.io").status == 200)
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

  @Test("In development an access token of JSON text says who the player is, an opaque one nothing")
  func accessTokens() async throws {
    try await run { _, client in
      func answer(_ token: String) async throws -> IdentityClient.Answer {
        try await client.call(
          "accounts:signInWithIdp",
          ["requestUri": "http://localhost", "postBody": .string("providerId=facebook.com&access_token=\(token)")])
      }
      let made = try await answer("%7B%22sub%22%3A%22f1%22%7D")
      #expect(made.status == 200)
      #expect(made.claims["firebase"]?["identities"]?["facebook.com"] == ["f1"])
      #expect(try await answer("EAAB").error.hasPrefix("INVALID_IDP_RESPONSE"))
      #expect(try await answer("%7B%22sub").error.hasPrefix("INVALID_IDP_RESPONSE"))
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

  @Test("34: a link by mail keeps the uid, proves the address, and is good once")
  func emailLink() async throws {
    try await run { _, client in
      let made = try await client.anonymous()
      _ = try await client.call(
        "accounts:sendOobCode", ["requestType": "EMAIL_SIGNIN", "email": "jim@x.io", "continueUrl": "http://localhost/a"])
      let code = JSON.string(try await client.lastCode())
      let body: JSON = ["email": "jim@x.io", "oobCode": code, "idToken": .string(made.text("idToken"))]
      let linked = try await client.call("accounts:signInWithEmailLink", body)
      #expect(linked.text("localId") == made.text("localId"))
      #expect(linked.claims["email_verified"] == true)
      #expect(linked.claims["firebase"]?["sign_in_provider"] == "password")
      #expect(try await client.call("accounts:signInWithEmailLink", body).error == "INVALID_OOB_CODE")
    }
  }

  @Test("35: a telephone keeps the uid; one of somebody else gives a proof, with which one is that somebody")
  func phone() async throws {
    try await run { _, client in
      func code(_ number: String) async throws -> JSON {
        _ = try await client.call("accounts:sendVerificationCode", ["phoneNumber": .string(number)])
        let codes = try await client.send("GET", "/emulator/v1/projects/game/verificationCodes")["verificationCodes"]
        return codes?.array?.last ?? .null
      }
      func body(_ code: JSON, _ token: String?) -> JSON {
        .record([
          ("sessionInfo", code["sessionInfo"]), ("code", code["code"]), ("idToken", token.map(JSON.string)),
        ])
      }
      let made = try await client.anonymous()
      let linked = try await client.call(
        "accounts:signInWithPhoneNumber", body(try await code("+15550100"), made.text("idToken")))
      #expect(linked.text("localId") == made.text("localId"))
      #expect(linked.claims["phone_number"] == "+15550100")
      let other = try await client.anonymous()
      let taken = try await client.call(
        "accounts:signInWithPhoneNumber", body(try await code("+15550100"), other.text("idToken")))
      #expect(taken.status == 200)
      #expect(taken["idToken"] == nil)
      let proof: JSON = ["temporaryProof": .string(taken.text("temporaryProof")), "phoneNumber": "+15550100"]
      let with = JSON.object((proof.object ?? []) + [JSON.Member(key: "idToken", value: .string(other.text("idToken")))])
      #expect(try await client.call("accounts:signInWithPhoneNumber", with).error == "PHONE_NUMBER_EXISTS")
      #expect(try await client.call("accounts:signInWithPhoneNumber", proof).text("localId") == made.text("localId"))
    }
  }

  @Test("36, 37: profile changes give no tokens; an address alone leaves a player anonymous, a password does not")
  func profile() async throws {
    try await run { server, client in
      let made = try await client.anonymous()
      let token = JSON.string(made.text("idToken"))
      let named = try await client.call("accounts:update", ["idToken": token, "displayName": "Jim", "photoUrl": "http://p"])
      #expect(named["idToken"] == nil)
      #expect(named.text("displayName") == "Jim")
      let cleared = try await client.call(
        "accounts:update", ["idToken": token, "deleteAttribute": ["DISPLAY_NAME", 4]])
      #expect(cleared["displayName"] == nil)
      #expect(cleared["photoUrl"] == nil)
      let addressed = try await client.call("accounts:update", ["idToken": token, "email": "jim@x.io"])
      #expect(addressed.claims["firebase"]?["sign_in_provider"] == "anonymous")
      #expect(addressed["providerUserInfo"] == nil)
      let secured = try await client.call(
        "accounts:update", ["idToken": .string(addressed.text("idToken")), "password": "secret1"])
      #expect(secured.claims["firebase"]?["sign_in_provider"] == "password")
      #expect(secured["providerUserInfo"]?.array?.count == 1)
    }
  }

  @Test("38: a changed address can be taken back by the code that went to the old one")
  func recovery() async throws {
    try await run { server, client in
      let made = try await client.player("old@x.io")
      let changed = try await client.call(
        "accounts:update", ["idToken": .string(made.text("idToken")), "email": "new@x.io"])
      #expect(changed.text("newEmail") == "new@x.io")
      let codes = try await client.send("GET", "/emulator/v1/projects/game/oobCodes")["oobCodes"]?.array ?? []
      #expect(codes.last?["requestType"] == "RECOVER_EMAIL")
      #expect(codes.last?["email"] == "old@x.io")
      let restored = try await client.call("accounts:update", ["oobCode": codes.last?["oobCode"] ?? .null])
      #expect(restored.text("email") == "old@x.io")
      #expect(try await client.signIn("old@x.io").status == 200)
    }
  }

  @Test("39, 40: what is unlinked goes, and nothing else")
  func unlink() async throws {
    try await run { _, client in
      let made = try await client.provider(["sub": "g1", "email": "jim@x.io", "email_verified": true])
      let linked = try await client.link(made.text("idToken"), "jim@x.io")
      let token = JSON.string(linked.text("idToken"))
      let rest = try await client.call("accounts:update", ["idToken": token, "deleteProvider": ["google.com"]])
      #expect(rest["providerUserInfo"]?.array?.compactMap { $0["providerId"]?.string } == ["password"])
      #expect(rest["idToken"] == nil)
      let bare = try await client.call("accounts:update", ["idToken": token, "deleteProvider": ["password"]])
      #expect(bare["providerUserInfo"] == nil)
      #expect(bare["email"] == nil)
      #expect(try await client.provider(["sub": "g1"])["isNewUser"] == true)
    }
  }
}
