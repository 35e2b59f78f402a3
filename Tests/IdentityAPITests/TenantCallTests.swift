import APISupport
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

@testable import HTTPServer
@testable import IdentityAPI

/// Tenants and providers as SDKs and administrators' tools see them.
struct TenantCallTests {
  private static let tenants = "/identitytoolkit.googleapis.com/v2/projects/game/tenants"

  private func run(_ test: (IdentityClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: .development) { server in try await test(IdentityClient(server: server)) }
  }

  private func tenant(_ client: IdentityClient, _ body: JSON = ["allowPasswordSignup": true, "enableAnonymousUser": true])
    async throws -> String
  {
    try await client.send("POST", Self.tenants, body, headers: IdentityClient.owner).text("tenantId")
  }

  private func signUp(_ client: IdentityClient, _ email: String, at tenant: String) async throws -> IdentityClient.Answer {
    try await client.call(
      "accounts:signUp", ["email": .string(email), "password": "secret1", "tenantId": .string(tenant)])
  }

  @Test("a tenant is made, shown, listed, changed and deleted over the paths of the public API")
  func management() async throws {
    try await run { client in
      let made = try await client.send("POST", Self.tenants, ["displayName": "Brand-A"], headers: IdentityClient.owner)
      let name = made.text("tenantId")
      #expect(name.hasPrefix("Brand-A-") && made.text("name") == "projects/game/tenants/\(name)")
      #expect(made["allowPasswordSignup"] == false && made["mfaConfig"]?["state"] == "DISABLED")
      let path = "\(Self.tenants)/\(name)"
      #expect(try await client.send("GET", path, headers: IdentityClient.owner).json == made.json)
      let changed = try await client.send(
        "PATCH", path + "?updateMask=allowPasswordSignup,mfaConfig.state",
        ["allowPasswordSignup": true, "displayName": "left as it is", "mfaConfig": ["state": "ENABLED"]],
        headers: IdentityClient.owner)
      #expect(changed["allowPasswordSignup"] == true && changed["displayName"] == "Brand-A")
      #expect(changed["mfaConfig"]?["state"] == "ENABLED")
      let second = try await tenant(client)
      let page = try await client.send("GET", Self.tenants + "?pageSize=1", headers: IdentityClient.owner)
      #expect(page["tenants"]?.array?.count == 1)
      let rest = try await client.send(
        "GET", Self.tenants + "?pageToken=\(page.text("nextPageToken"))", headers: IdentityClient.owner)
      let names = [page, rest].flatMap { $0["tenants"]?.array ?? [] }.compactMap { $0["tenantId"]?.string }
      #expect(Set(names) == [name, second] && rest["nextPageToken"] == nil)
      #expect(try await client.send("DELETE", path, headers: IdentityClient.owner).status == 200)
      let left = try await client.send("GET", Self.tenants, headers: IdentityClient.owner)
      #expect(left["tenants"]?.array?.count == 1)
    }
  }

  @Test("what a tenant has not is refused by name, and tenants are the administrators'")
  func refusals() async throws {
    try await run { client in
      let path = "\(Self.tenants)/\(try await tenant(client))"
      for body: JSON in [
        ["recaptchaConfig": ["emailPasswordEnforcementState": "AUDIT"]], ["mfaConfig": ["state": "MANDATORY"]],
      ] {
        #expect(try await client.send("PATCH", path, body, headers: IdentityClient.owner).status == 501)
      }
      let mask = try await client.send("PATCH", path + "?updateMask=displayName.0", [:], headers: IdentityClient.owner)
      #expect(mask.status == 400 && mask.error.contains("displayName.0"))
      for (verb, place) in [("GET", Self.tenants), ("POST", Self.tenants), ("GET", path), ("DELETE", path)] {
        #expect(try await client.send(verb, place + "?key=k", verb == "POST" ? [:] : nil).status == 403)
      }
      #expect(try await client.send("GET", path, headers: IdentityClient.owner).status == 200)
    }
  }

  @Test("players of two tenants share an address and nothing else; the tenant is named by the path, the body or the token")
  func twoTenants() async throws {
    try await run { client in
      let (ape, bee) = (try await tenant(client), try await tenant(client))
      let (first, second) = (try await signUp(client, "jim@x.io", at: ape), try await signUp(client, "jim@x.io", at: bee))
      #expect(first.status == 200 && second.status == 200 && first.text("localId") != second.text("localId"))
      #expect(first.claims["firebase"]?["tenant"]?.string == ape)
      #expect(try await client.signIn("jim@x.io").error == "EMAIL_NOT_FOUND")
      let token = first.text("idToken")
      let looked = try await client.lookup(token)
      #expect(looked["users"]?.array?.first?["tenantId"]?.string == ape)
      let refreshed = try await client.refresh(first.text("refreshToken"))
      #expect(refreshed.status == 200 && refreshed.claims["firebase"]?["tenant"]?.string == ape)
      for (path, body): (String, JSON) in [
        ("accounts:lookup?key=k", ["idToken": .string(token), "tenantId": .string(bee)]),
        ("projects/game/tenants/\(bee)/accounts:lookup?key=k", ["idToken": .string(token)]),
        ("projects/game/tenants/\(bee)/accounts:update?key=k", ["idToken": .string(token), "displayName": "x"]),
        ("projects/game/tenants/\(bee)/accounts:delete?key=k", ["idToken": .string(token)]),
        ("projects/game/tenants/\(bee)/accounts:signUp?key=k", ["tenantId": .string(ape)]),
      ] {
        let answer = try await client.send("POST", "/identitytoolkit.googleapis.com/v1/\(path)", body)
        #expect(answer.status == 400 && answer.error == "TENANT_ID_MISMATCH", "\(path): \(answer.json)")
      }
      let refresh = try await client.send(
        "POST", "/securetoken.googleapis.com/v1/token?key=k",
        [
          "grantType": "refresh_token", "refreshToken": .string(first.text("refreshToken")), "tenantId": .string(bee),
        ])
      #expect(refresh.error == "TENANT_ID_MISMATCH")
      let plain = try await client.player("jim@x.io")
      let crossed = try await client.call(
        "accounts:lookup", ["idToken": .string(plain.text("idToken")), "tenantId": .string(ape)])
      #expect(crossed.error == "TENANT_ID_MISMATCH")
    }
  }

  @Test("an administrator's calls see one tenant's accounts, and rows of another are refused by name")
  func administration() async throws {
    try await run { client in
      let (ape, bee) = (try await tenant(client), try await tenant(client))
      let uid = try await signUp(client, "jim@x.io", at: ape).text("localId")
      _ = try await client.player("sam@x.io")
      func users(_ parent: String) async throws -> [JSON] {
        let page = try await client.send(
          "GET", "/identitytoolkit.googleapis.com/v1/projects/game\(parent)/accounts:batchGet", headers: IdentityClient.owner)
        return page["users"]?.array ?? []
      }
      #expect(try await users("/tenants/\(ape)").map { $0["localId"]?.string } == [uid])
      #expect(try await users("/tenants/\(bee)").isEmpty)
      #expect(try await users("").compactMap { $0["email"] } == ["sam@x.io"])
      let foreign = try await client.admin("tenants/\(bee)/accounts:update", ["localId": .string(uid), "displayName": "x"])
      #expect(foreign.error == "USER_NOT_FOUND")
      let deleted = try await client.admin("tenants/\(bee)/accounts:delete", ["localId": .string(uid)])
      #expect(deleted.error == "USER_NOT_FOUND")
      let rows = try await client.admin(
        "tenants/\(bee)/accounts:batchCreate",
        ["users": [["localId": "new", "tenantId": .string(ape)], ["localId": .string(uid)], ["localId": "fresh"]]])
      let messages = (rows["error"]?.array ?? []).compactMap { $0["message"]?.string }
      #expect(messages.count == 2 && messages[0].contains("Tenant id in userInfo") && messages[1].contains("existing account"))
      let count = try await client.admin("tenants/\(bee)/accounts:query", ["returnUserInfo": false])
      #expect(count["recordsCount"] == "1")
      #expect(try await client.admin("accounts:query", ["returnUserInfo": false])["recordsCount"] == "1")
    }
  }

  @Test("a tenant that is switched off, and one without passwords, say so as the public API does")
  func settings() async throws {
    try await run { client in
      let off = try await tenant(client, ["disableAuth": true])
      #expect(try await signUp(client, "jim@x.io", at: off).error == "PROJECT_DISABLED")
      let plain = try await tenant(client, [:])
      #expect(try await signUp(client, "jim@x.io", at: plain).error == "OPERATION_NOT_ALLOWED")
      #expect(try await client.call("accounts:signUp", ["tenantId": .string(plain)]).error == "ADMIN_ONLY_OPERATION")
      let phone = try await client.call(
        "accounts:sendVerificationCode", ["phoneNumber": "+15555550100", "tenantId": .string(plain)])
      #expect(phone.error == "UNSUPPORTED_TENANT_OPERATION")
      #expect(try await signUp(client, "jim@x.io", at: "a.b").error == "TENANT_NOT_FOUND")
    }
  }

  @Test("production has tenants when the project's configuration says so, and makes none by itself")
  func production() async throws {
    let key = ["Authorization": "Bearer owner-2"]
    try await APIServer.run(
      access: AccessPolicy(mode: .production, adminTokens: [AdminToken(name: "ann", secret: "owner-2")]), accounts: .production
    ) { server in
      let client = IdentityClient(server: server)
      let refused = try await client.send("POST", Self.tenants, [:], headers: key)
      #expect(refused.status == 400 && refused.error.contains("multiTenant"))
      #expect(try await signUp(client, "jim@x.io", at: "ape").error.contains("multiTenant"))
      let on = try await client.send(
        "PATCH", "/identitytoolkit.googleapis.com/v2/projects/game/config?updateMask=multiTenant.allowTenants",
        ["multiTenant": ["allowTenants": true]], headers: key)
      #expect(on["multiTenant"]?["allowTenants"] == true)
      #expect(try await signUp(client, "jim@x.io", at: "ape").error == "TENANT_NOT_FOUND")
      #expect(try await client.send("GET", Self.tenants + "/ape", headers: key).error == "TENANT_NOT_FOUND")
      let made = try await client.send("POST", Self.tenants, ["allowPasswordSignup": true], headers: key)
      #expect(try await signUp(client, "jim@x.io", at: made.text("tenantId")).status == 200)
    }
  }

  @Test("an OpenID Connect provider is made, shown, listed, changed and deleted, of the project and of a tenant apart")
  func openIDConnect() async throws {
    try await run { client in
      let tenant = try await tenant(client)
      for parent in ["projects/game", "projects/game/tenants/\(tenant)"] {
        let path = "/identitytoolkit.googleapis.com/v2/\(parent)/oauthIdpConfigs"
        let body: JSON = [
          "clientId": "app", "issuer": "https://guild.example/x", "displayName": "Guild", "enabled": true,
          "responseType": ["idToken": true, "code": false],
        ]
        let made = try await client.send("POST", path + "?oauthIdpConfigId=oidc.guild", body, headers: IdentityClient.owner)
        #expect(made.status == 200 && made.text("name") == "\(parent)/oauthIdpConfigs/oidc.guild", "\(made.json)")
        let again = try await client.send("POST", path + "?oauthIdpConfigId=oidc.guild", body, headers: IdentityClient.owner)
        #expect(again.error.hasPrefix("CONFIGURATION_EXISTS"))
        #expect(try await client.send("GET", path + "/oidc.guild", headers: IdentityClient.owner).json == made.json)
        let list = try await client.send("GET", path + "?pageSize=10", headers: IdentityClient.owner)
        #expect(list["oauthIdpConfigs"]?.array?.count == 1 && list["nextPageToken"] == nil)
        let changed = try await client.send(
          "PATCH", path + "/oidc.guild?updateMask=enabled,clientSecret,responseType.code",
          ["enabled": false, "clientSecret": "s", "responseType": ["code": true]], headers: IdentityClient.owner)
        #expect(changed["enabled"] == false && changed["responseType"]?["idToken"] == true && changed["displayName"] == "Guild")
        // The one of a tenant says nothing about the project's players.
        let signIn = try await client.provider(["sub": "g1"], "oidc.guild")
        #expect(signIn.status == (parent == "projects/game" ? 400 : 200), "\(parent): \(signIn.json)")
        #expect(try await client.send("DELETE", path + "/oidc.guild", headers: IdentityClient.owner).status == 200)
        let gone = try await client.send("GET", path + "/oidc.guild", headers: IdentityClient.owner)
        #expect(gone.status == 404 && gone.error == "CONFIGURATION_NOT_FOUND")
      }
    }
  }

  @Test("a configuration that could not work is refused with what is wrong with it")
  func badProviders() async throws {
    try await run { client in
      let path = "/identitytoolkit.googleapis.com/v2/projects/game/oauthIdpConfigs"
      let good: JSON = ["clientId": "app", "issuer": "https://guild.example"]
      for (query, body, error): (String, JSON, String) in [
        ("", good, "MISSING_CONFIG_ID"), ("?oauthIdpConfigId=guild", good, "INVALID_CONFIG_ID"),
        ("?oauthIdpConfigId=oidc.", good, "INVALID_CONFIG_ID"),
        ("?oauthIdpConfigId=oidc.x", ["issuer": "https://guild.example"], "MISSING_OAUTH_CLIENT_ID"),
        ("?oauthIdpConfigId=oidc.x", ["clientId": "app"], "MISSING_ISSUER"),
        ("?oauthIdpConfigId=oidc.x", ["clientId": "app", "issuer": "ftp://guild.example"], "INVALID_CONFIG"),
        (
          "?oauthIdpConfigId=oidc.x",
          ["clientId": "app", "issuer": "https://guild.example", "responseType": ["code": true]], "MISSING_OAUTH_CLIENT_SECRET"
        ),
      ] {
        let answer = try await client.send("POST", path + query, body, headers: IdentityClient.owner)
        #expect(answer.status == 400 && answer.error.hasPrefix(error), "\(query): \(answer.json)")
      }
      #expect(try await client.send("POST", path + "?oauthIdpConfigId=oidc.x&key=k", good).status == 403)
    }
  }

  @Test("a SAML provider is kept and shown and signs nobody in; passkeys and well-known providers say what to use instead")
  func unsupported() async throws {
    try await run { client in
      let path = "/identitytoolkit.googleapis.com/v2/projects/game/inboundSamlConfigs"
      let body: JSON = [
        "idpConfig": [
          "idpEntityId": "theirs", "ssoUrl": "https://guild.example/sso", "idpCertificates": [["x509Certificate": "pem"]],
        ], "spConfig": ["spEntityId": "ours", "callbackUri": "https://game.example/cb"], "displayName": "Guild",
      ]
      let made = try await client.send("POST", path + "?inboundSamlConfigId=saml.guild", body, headers: IdentityClient.owner)
      #expect(made.status == 200 && made["spConfig"]?["callbackUri"] == "https://game.example/cb", "\(made.json)")
      let changed = try await client.send(
        "PATCH", path + "/saml.guild?updateMask=enabled,idpConfig.ssoUrl",
        ["enabled": true, "idpConfig": ["ssoUrl": "https://guild.example/2"]], headers: IdentityClient.owner)
      #expect(changed["idpConfig"]?["idpEntityId"] == "theirs" && changed["idpConfig"]?["ssoUrl"] == "https://guild.example/2")
      let signIn = try await client.provider(["sub": "g1"], "saml.guild")
      #expect(signIn.status == 400 && signIn.error.contains("OpenID Connect"))
      let passkey: JSON = [
        "idToken": "t", "authenticatorRegistrationResponse": ["id": "c"], "authenticatorAuthenticationResponse": ["id": "c"],
      ]
      for (method, error) in [
        ("passkeyEnrollment:start", "MISSING_ID_TOKEN"), ("passkeyEnrollment:finalize", "MISSING_ID_TOKEN"),
        ("passkeySignIn:start", "Passkeys"), ("passkeySignIn:finalize", "MISSING_AUTHENTICATOR_RESPONSE"),
      ] {
        let path = "/identitytoolkit.googleapis.com/v2/accounts/\(method)?key=k"
        let answer = try await client.send("POST", path, passkey)
        #expect(answer.status == 501 && answer.error.contains("mfaEnrollment:start"))
        #expect(try await client.send("POST", path, [:]).error.hasPrefix(error))
      }
      let google = try await client.send(
        "POST", "/identitytoolkit.googleapis.com/v2/projects/game/defaultSupportedIdpConfigs?idpId=google.com", [:],
        headers: IdentityClient.owner)
      #expect(google.status == 501 && google.error.contains("accounts.providers"))
    }
  }
}
