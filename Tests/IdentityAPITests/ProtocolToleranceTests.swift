import ServerTestSupport
import Testing
import TreeModel

/// What clients send that says nothing, and what they ask for that is not there.
struct ProtocolToleranceTests {
  private func run(_ kind: AccountKind = .development, _ test: (IdentityClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: kind) { server in try await test(IdentityClient(server: server)) }
  }

  @Test("A null is not set: what updateProfile of the JavaScript SDK and pyrebase4's update_profile send changes the rest")
  func nullsInUpdates() async throws {
    try await run { client in
      let token = try await client.player("jim@x.io").text("idToken")
      func update(_ fields: JSON) async throws -> IdentityClient.Answer {
        let own: [JSON.Member] = [.init(key: "idToken", value: .string(token)), .init(key: "returnSecureToken", value: true)]
        return try await client.call("accounts:update", .object(own + (fields.object ?? [])))
      }
      #expect(try await update(["displayName": "Jim", "photoUrl": "https://x.io/jim.png"]).status == 200)
      let rows: [JSON] = [
        ["displayName": "Jim", "photoUrl": .null],
        ["displayName": .null, "photoURL": .null, "photo_url": .null, "deleteAttribute": .null],
        ["photoUrl": .null, "photoURL": "https://x.io/jim.png"],
        [
          "email": .null, "password": .null, "oobCode": .null, "localId": .null, "deleteProvider": .null, "validSince": .null,
          "customAttributes": .null, "disableUser": .null, "linkProviderUserInfo": .null, "mfa": .null, "emailVerified": .null,
        ],
      ]
      for row in rows {
        let answer = try await update(row)
        #expect(answer.status == 200, "\(row): \(answer.error)")
        #expect(answer.text("displayName") == "Jim" && answer.text("photoUrl") == "https://x.io/jim.png", "\(row)")
      }
    }
  }

  @Test("A photo and a name go by deleteAttribute, as the SDKs send it, or by an empty text; null keeps them")
  func takenAway() async throws {
    try await run { client in
      let token = try await client.player("jim@x.io").text("idToken")
      func update(_ fields: JSON) async throws -> IdentityClient.Answer {
        let own: [JSON.Member] = [.init(key: "idToken", value: .string(token)), .init(key: "returnSecureToken", value: true)]
        return try await client.call("accounts:update", .object(own + (fields.object ?? [])))
      }
      let rows: [(fields: JSON, name: JSON?, photo: JSON?)] = [
        (["displayName": .null, "photoUrl": .null], "Jim", "https://x.io/jim.png"),
        (["deleteAttribute": ["PHOTO_URL"]], "Jim", nil), (["deleteAttribute": ["DISPLAY_NAME", "PHOTO_URL"]], nil, nil),
        (["photoUrl": ""], "Jim", nil), (["displayName": ""], nil, "https://x.io/jim.png"),
      ]
      for row in rows {
        #expect(try await update(["displayName": "Jim", "photoUrl": "https://x.io/jim.png"]).status == 200)
        let answer = try await update(row.fields)
        let user = try await client.call("accounts:lookup", ["idToken": .string(token)])["users"]?.array?.first
        #expect(answer["displayName"] == row.name && answer["photoUrl"] == row.photo, "\(row.fields)")
        #expect(user?["displayName"] == row.name && user?["photoUrl"] == row.photo, "\(row.fields)")
      }
    }
  }

  @Test("A null is not set in any other call either")
  func nullsElsewhere() async throws {
    try await run { client in
      let made = try await client.call(
        "accounts:signUp",
        [
          "email": "jim@x.io", "password": "secret1", "idToken": .null, "localId": .null, "displayName": .null,
          "captchaResponse": .null, "targetProjectId": .null,
        ])
      #expect(made.status == 200, "\(made.error)")
      let rows: [(String, JSON)] = [
        ("signUp", ["returnSecureToken": true, "email": .null, "password": .null]),
        ("signInWithPassword", ["email": "jim@x.io", "password": "secret1", "idToken": .null, "pendingToken": .null]),
        ("signInWithCustomToken", ["token": #"{"uid":"bob","claims":null}"#, "returnSecureToken": .null]),
        ("lookup", ["idToken": .string(made.text("idToken")), "localId": .null, "email": .null]),
        (
          "signInWithIdp",
          [
            "requestUri": "http://localhost", "postBody": #"providerId=google.com&id_token={"sub":"g1"}"#, "idToken": .null,
            "pendingToken": .null, "returnIdpCredential": .null, "sessionId": .null,
          ]
        ),
        (
          "createAuthUri",
          ["identifier": "jim@x.io", "continueUri": "http://localhost", "sessionId": .null, "providerId": .null]
        ),
        (
          "sendOobCode",
          [
            "requestType": "PASSWORD_RESET", "email": "jim@x.io", "idToken": .null, "continueUrl": .null,
            "returnOobLink": .null,
          ]
        ),
      ]
      for (method, body) in rows {
        let answer = try await client.call("accounts:\(method)", body)
        #expect(answer.status == 200, "\(method): \(answer.error)")
      }
      let imported = try await client.admin(
        "accounts:batchCreate",
        [
          "hashAlgorithm": .null, "sanityCheck": .null, "allowOverwrite": .null,
          "users": [["localId": "eve", "email": .null, "rawPassword": "secret1", "passwordHash": .null, "mfaInfo": .null]],
        ])
      #expect(imported.status == 200 && imported["error"] == nil, "\(imported.json)")
      let refresh: JSON = [
        "grant_type": "refresh_token", "refresh_token": .string(made.text("refreshToken")), "code": .null,
      ]
      #expect(try await client.send("POST", "/v1/token?key=k", refresh).status == 200)
    }
  }

  private static let configuration = "/identitytoolkit.googleapis.com/v2/projects/game/config"

  @Test("A setting that is not there is refused and changes nothing; one that says nothing, or was read here, is taken")
  func settings() async throws {
    try await run { client in
      func patch(_ mask: String, _ body: JSON) async throws -> IdentityClient.Answer {
        try await client.send("PATCH", Self.configuration + mask, body, headers: IdentityClient.owner)
      }
      let both: JSON = [
        "signIn": ["allowDuplicateEmails": true],
        "blockingFunctions": ["triggers": ["beforeSendEmail": ["functionUri": "http://localhost/f"]]],
      ]
      for (mask, body, status, error) in [
        ("", both, 400, "INVALID_BLOCKING_FUNCTION : "),
        ("?updateMask=signIn,blockingFunctions", both, 400, "INVALID_BLOCKING_FUNCTION : "),
        ("?updateMask=blocking_functions.triggers", both, 400, "INVALID_BLOCKING_FUNCTION : "),
        ("", ["smsRegionConfig": ["allowByDefault": ["disallowedRegions": ["AD"]]]], 501, "The setting smsRegionConfig."),
        ("", ["signIn": ["phoneNumber": ["enabled": true]]], 501, "The setting signIn.phoneNumber.enabled "),
      ] as [(String, JSON, Int, String)] {
        let answer = try await patch(mask, body)
        #expect(answer.status == status && answer.error.hasPrefix(error), "\(mask) \(body): \(answer.json)")
      }
      let unchanged = try await client.send("GET", Self.configuration, headers: IdentityClient.owner)
      #expect(unchanged["signIn"]?["allowDuplicateEmails"] == false && unchanged["blockingFunctions"] == [:])
      #expect(try await patch("", ["blockingFunctions": ["triggers": [:]], "multiTenant": .null]).status == 200)
      #expect(try await patch("", unchanged.json).status == 200)
      // What the mask does not name is not meant.
      #expect(try await patch("?updateMask=signIn", both)["signIn"]?["allowDuplicateEmails"] == true)
      let emulators = "/emulator/v1/projects/game/config"
      let kept = try await client.send("PATCH", emulators, ["signIn": ["allowDuplicateEmails": .null]])
      #expect(kept["signIn"]?["allowDuplicateEmails"] == true)
    }
  }

  @Test("How an address signs in is told in the protocol's words, also of one that has no account")
  func signInMethods() async throws {
    try await run { client in
      let made = try await client.player("jim@x.io")
      _ = try await client.provider(["sub": "g1"], token: made.text("idToken"))
      func ask(_ email: String) async throws -> [JSON?] {
        let answer = try await client.call(
          "accounts:createAuthUri", ["identifier": .string(email), "continueUri": "http://localhost"])
        return ["registered", "allProviders", "signinMethods"].map { answer[$0] }
      }
      #expect(try await ask("jim@x.io") == [true, ["password", "google.com"], ["password", "google.com"]])
      #expect(try await ask("nobody@x.io") == [false, [], []])
    }
  }

  @Test("A SAML answer is refused wherever it stands, whatever comes with it", arguments: ["postBody", "query", "fragment"])
  func saml(place: String) async throws {
    for kind in [AccountKind.development, .production] {
      try await run(kind) { client in
        let form = #"providerId=saml.studio&id_token={"sub":"s1"}&SAMLResponse={"assertion":{"subject":{"nameId":"a@x.io"}}}"#
        let escaped = form.replacing("{", with: "%7B").replacing("}", with: "%7D").replacing("\"", with: "%22")
        let body: JSON =
          switch place {
          case "postBody": ["requestUri": "http://localhost", "postBody": .string(form)]
          case "query": ["requestUri": .string("http://localhost/?\(escaped)")]
          default: ["requestUri": .string("http://localhost/#\(escaped)")]
          }
        let answer = try await client.call("accounts:signInWithIdp", body)
        #expect(
          answer.status == 400 && answer.error.hasPrefix("INVALID_IDP_RESPONSE : SAML is not supported"), "\(answer.json)")
      }
    }
  }
}
