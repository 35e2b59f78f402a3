import ServerTestSupport
import Testing
import TreeModel

@testable import HTTPServer
@testable import IdentityAPI

/// What one tenant gave out, or has, brought to another tenant and to the project: nothing of it works there, and nothing changes.
struct TenantCrossingTests {
  /// A tenant's player, with everything that the tenant gave out.
  private struct Haul {
    let tenant: String
    let uid: JSON
    let idToken: JSON
    let cookieSource: JSON
    let linkCode: JSON
    let resetCode: JSON
    let pending: JSON
    let factor: JSON
  }

  /// What an attacker tries at a place that is not the haul's own.
  private struct Attempt: CustomTestStringConvertible {
    let testDescription: String
    /// Below `/v1/`, or `/v1/projects/game/` and the other tenant where an administrator asks.
    let method: String
    var isAdministrators = false
    let errors: Set<String>
    let body: @Sendable (Haul) -> JSON

    init(
      _ description: String, _ method: String, administrators: Bool = false, _ errors: Set<String>,
      body: @escaping @Sendable (Haul) -> JSON
    ) {
      (testDescription, self.method, isAdministrators) = (description, method, administrators)
      (self.errors, self.body) = (errors, body)
    }
  }

  private static let mismatch: Set<String> = ["TENANT_ID_MISMATCH"]

  private static let attempts = [
    Attempt("an ID token, to look", "accounts:lookup", mismatch) { ["idToken": $0.idToken] },
    Attempt("an ID token, to change", "accounts:update", mismatch) { ["idToken": $0.idToken, "displayName": "x"] },
    Attempt("an ID token, to leave", "accounts:delete", mismatch) { ["idToken": $0.idToken] },
    Attempt("an ID token, to link a password", "accounts:signUp", mismatch) {
      ["idToken": $0.idToken, "email": "evil@x.io", "password": "secret1"]
    },
    Attempt("an ID token, to link an identity", "accounts:signInWithIdp", mismatch) {
      ["idToken": $0.idToken, "requestUri": "http://localhost", "postBody": #"providerId=google.com&id_token={"sub":"g9"}"#]
    },
    Attempt("an ID token, to mail a code", "accounts:sendOobCode", mismatch) {
      ["idToken": $0.idToken, "requestType": "VERIFY_EMAIL"]
    },
    Attempt("an ID token, for a cookie", ":createSessionCookie", administrators: true, mismatch) {
      ["idToken": $0.cookieSource, "validDuration": "3600"]
    },
    Attempt("a link's code", "accounts:signInWithEmailLink", ["INVALID_OOB_CODE"]) {
      ["email": "jim@x.io", "oobCode": $0.linkCode]
    },
    Attempt("a reset's code, to look", "accounts:resetPassword", ["INVALID_OOB_CODE"]) { ["oobCode": $0.resetCode] },
    Attempt("a reset's code", "accounts:resetPassword", ["INVALID_OOB_CODE"]) {
      ["oobCode": $0.resetCode, "newPassword": "stolen1"]
    },
    Attempt("a code, to apply", "accounts:update", ["INVALID_OOB_CODE"]) { ["oobCode": $0.resetCode] },
    Attempt("the password", "accounts:signInWithPassword", ["EMAIL_NOT_FOUND"]) { _ in
      ["email": "jim@x.io", "password": "secret1"]
    },
    Attempt("an administrator's change", "accounts:update", administrators: true, ["USER_NOT_FOUND"]) {
      ["localId": $0.uid, "password": "stolen1"]
    },
    Attempt("an administrator's removal", "accounts:delete", administrators: true, ["USER_NOT_FOUND"]) {
      ["localId": $0.uid]
    },
    Attempt("an administrator's account of the same uid", "accounts", administrators: true, ["DUPLICATE_LOCAL_ID"]) {
      ["localId": $0.uid]
    },
    Attempt("an administrator's code", "accounts:sendOobCode", administrators: true, ["EMAIL_NOT_FOUND", "USER_NOT_FOUND"]) {
      _ in ["email": "jim@x.io", "requestType": "PASSWORD_RESET", "returnOobLink": true]
    },
  ]

  private func haul(_ client: IdentityClient, at tenant: String) async throws -> Haul {
    let name = JSON.string(tenant)
    let player = try await client.call(
      "accounts:signUp", ["email": "jim@x.io", "password": "secret1", "tenantId": name])
    func code(_ type: JSON) async throws -> JSON {
      let asked: JSON = ["email": "jim@x.io", "requestType": type, "returnOobLink": true]
      let sent = try await client.admin("tenants/\(tenant)/accounts:sendOobCode", asked)
      return try #require(sent["oobCode"])
    }
    let careful = try await client.admin(
      "tenants/\(tenant)/accounts",
      [
        "email": "ann@x.io", "emailVerified": true, "password": "secret1", "mfaInfo": [["phoneInfo": "+15555550100"]],
      ])
    #expect(careful.status == 200)
    let waiting = try await client.call(
      "accounts:signInWithPassword", ["email": "ann@x.io", "password": "secret1", "tenantId": name])
    return Haul(
      tenant: tenant, uid: .string(player.text("localId")), idToken: .string(player.text("idToken")),
      cookieSource: .string(player.text("idToken")), linkCode: try await code("EMAIL_SIGNIN"),
      resetCode: try await code("PASSWORD_RESET"), pending: try #require(waiting["mfaPendingCredential"]),
      factor: try #require(waiting["mfaInfo"]?.array?.first?["mfaEnrollmentId"]))
  }

  private func run(_ test: (IdentityClient, Haul) async throws -> Void) async throws {
    try await APIServer.run(accounts: .development) { server in
      let client = IdentityClient(server: server)
      try await test(client, try await haul(client, at: "ape"))
    }
  }

  /// The account as its tenant's administrator sees it.
  private func seen(_ client: IdentityClient, _ haul: Haul) async throws -> JSON? {
    try await client.admin("tenants/ape/accounts:lookup", ["localId": [haul.uid]])["users"]
  }

  @Test("what a tenant gave out is nothing at another tenant", arguments: attempts.indices)
  func elsewhere(index: Int) async throws {
    let attempt = Self.attempts[index]
    try await run { client, haul in
      let before = try await seen(client, haul)
      let base = "/identitytoolkit.googleapis.com/v1/projects/game/tenants/bee"
      let separator = attempt.method.hasPrefix(":") ? "" : "/"
      let answer = try await client.send(
        "POST", "\(base)\(separator)\(attempt.method)?key=k", attempt.body(haul),
        headers: attempt.isAdministrators ? IdentityClient.owner : [:])
      #expect(answer.status == 400, "\(attempt.testDescription): \(answer.json)")
      #expect(attempt.errors.contains(answer.error), "\(attempt.testDescription): \(answer.json)")
      #expect(try await seen(client, haul) == before)
    }
  }

  @Test("nor at the project, where no token says that it is a tenant's")
  func atTheProject() async throws {
    let own: Set<String> = ["INVALID_OOB_CODE", "EMAIL_NOT_FOUND", "USER_NOT_FOUND", "DUPLICATE_LOCAL_ID"]
    for attempt in Self.attempts where !own.isDisjoint(with: attempt.errors) {
      try await run { client, haul in
        let before = try await seen(client, haul)
        let answer =
          attempt.isAdministrators
          ? try await client.admin(attempt.method, attempt.body(haul))
          : try await client.call(attempt.method, attempt.body(haul))
        #expect(answer.status == 400, "\(attempt.testDescription): \(answer.json)")
        #expect(attempt.errors.contains(answer.error), "\(attempt.testDescription): \(answer.json)")
        #expect(try await seen(client, haul) == before)
      }
    }
  }

  @Test("a wait for a second factor ends at its own tenant only, and an administrator's lists show one tenant's accounts")
  func factorsAndLists() async throws {
    try await run { client, haul in
      for place: JSON in [["tenantId": "bee"], [:]] {
        let asked: JSON = ["mfaPendingCredential": haul.pending, "mfaEnrollmentId": haul.factor, "phoneSignInInfo": [:]]
        let body = JSON.object((asked.object ?? []) + (place.object ?? []))
        let start = try await client.send(
          "POST", "/identitytoolkit.googleapis.com/v2/accounts/mfaSignIn:start?key=k", body)
        #expect(start.error.hasPrefix("INVALID_MFA_PENDING_CREDENTIAL"), "\(start.json)")
      }
      for (parent, count) in [("tenants/ape/", 2), ("tenants/bee/", 0), ("", 0)] {
        let found = try await client.admin("\(parent)accounts:lookup", ["email": ["jim@x.io", "ann@x.io"]])
        #expect((found["users"]?.array ?? []).count == count, "\(parent)")
        let known = try await client.admin("\(parent)accounts:lookup", ["localId": [haul.uid]])
        #expect((known["users"]?.array ?? []).count == (count == 0 ? 0 : 1), "\(parent)")
      }
      let removed = try await client.admin("tenants/bee/accounts:batchDelete", ["localIds": [haul.uid], "force": true])
      #expect(removed.status == 200)
      #expect(try await seen(client, haul)?.array?.count == 1)
    }
  }

  @Test("a provider that is set up for one tenant is not there at another, nor at the project")
  func providers() async throws {
    try await run { client, _ in
      let base = "/identitytoolkit.googleapis.com/v2/projects/game"
      let body: JSON = ["clientId": "app", "issuer": "https://guild.example/x", "enabled": true]
      let made = try await client.send(
        "POST", "\(base)/tenants/ape/oauthIdpConfigs?oauthIdpConfigId=oidc.guild", body, headers: IdentityClient.owner)
      #expect(made.status == 200)
      _ = try await client.call("accounts:signUp", ["email": "sam@x.io", "password": "secret1", "tenantId": "bee"])
      for place in ["\(base)/tenants/bee", base] {
        let path = "\(place)/oauthIdpConfigs/oidc.guild"
        for verb in ["GET", "PATCH", "DELETE"] {
          let sent: JSON? = verb == "PATCH" ? ["enabled": false] : JSON?.none
          let answer = try await client.send(verb, path, sent, headers: IdentityClient.owner)
          #expect(answer.status == 404 && answer.error == "CONFIGURATION_NOT_FOUND", "\(verb) \(path): \(answer.json)")
        }
        let list = try await client.send("GET", "\(place)/oauthIdpConfigs", headers: IdentityClient.owner)
        #expect(list["oauthIdpConfigs"]?.array?.isEmpty == true)
      }
      let kept = try await client.send("GET", "\(base)/tenants/ape/oauthIdpConfigs/oidc.guild", headers: IdentityClient.owner)
      #expect(kept.json == made.json)
    }
  }
}
