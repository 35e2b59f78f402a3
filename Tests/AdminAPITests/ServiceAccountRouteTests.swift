import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TextFormats
import TreeDatabase
import TreeModel

@testable import APISupport
@testable import Credentials
@testable import HTTPServer

struct ServiceAccountRouteTests {
  private func status(_ keyed: KeyedServer, _ token: String) async throws -> Int {
    try await keyed.server.send("GET", "/admin/v1/status", headers: ["Authorization": "Bearer \(token)"]).status
  }

  @Test("An account is made, signs in, works for an hour, is revoked, and its name may come again")
  func life() async throws {
    try await KeyedServer.run { keyed in
      let account = try await keyed.account("ci", "viewer")
      #expect(account.email == "ci@game.iam.gserviceaccount.com" && account.tokenURI == "https://rewards.example.com/token")
      let answer = try await keyed.exchange(account.assertion(at: keyed.server.clock.now()))
      #expect(answer.json?["token_type"] == "Bearer" && answer.json?["expires_in"] == 3600)
      #expect(answer["cache-control"] == "no-store")
      let token = try #require(answer.json?["access_token"]?.string)
      #expect(try await status(keyed, token) == 200)

      let taken = try await keyed.server.send(
        "POST", "/admin/v1/service-accounts", #"{"name":"ci","role":"admin","server":"https://a.example"}"#,
        headers: APIServer.admin)
      #expect(taken.status == 409)

      keyed.server.clock.advance(by: 3_600_000)
      #expect(try await status(keyed, token) == 401)
      let next = try await keyed.token(account)
      #expect(try await status(keyed, next) == 200)
      try await keyed.server.expect(
        .init("DELETE", "/admin/v1/service-accounts/ci", headers: APIServer.admin),
        .init("DELETE", "/admin/v1/service-accounts/ci", headers: APIServer.admin, status: 404))
      #expect(try await status(keyed, next) == 401)
      let late = try await keyed.exchange(account.assertion(at: keyed.server.clock.now()))
      #expect(late.status == 400 && late.error == "invalid_grant")

      let again = try await keyed.account("ci", "support")
      #expect(again.key.id != account.key.id)
      #expect(try await status(keyed, keyed.token(again)) == 200)
      let list = try await keyed.server.send("GET", "/admin/v1/service-accounts", headers: APIServer.admin)
      let rows = list.json?["serviceAccounts"]?.array ?? []
      #expect(rows.map { $0["role"]?.string } == ["viewer", "support"])
      #expect(rows.map { $0["revokedAt"] != nil } == [true, false])
      #expect(!list.body.contains("PRIVATE") && !list.body.contains("PUBLIC"))
    }
  }

  @Test("Accounts outlive the process; revoked ones stay revoked; no secret is in the store or the audit log")
  func kept() async throws {
    try await KeyedServer.run { keyed in
      let (live, dead) = (try await keyed.account("live", "admin"), try await keyed.account("dead", "admin"))
      let token = try await keyed.token(dead)
      _ = try await keyed.server.send("DELETE", "/admin/v1/service-accounts/dead", headers: APIServer.admin)
      let next = try ServiceAccountStore(database: keyed.server.database, keys: keyed.keys, project: "game", namespace: "game")
      let now = keyed.server.clock.now()
      #expect(try next.exchange(live.assertion(at: now)).seconds == 3600)
      #expect(throws: TokenError.unknownKey(dead.key.id)) { try next.exchange(dead.assertion(at: now)) }
      #expect(throws: AccessError.self) { try next.caller(token) }
      #expect(try next.caller("owner") == nil)
      #expect(next.customTokenKey(of: live.email, id: live.key.id) != nil)
      #expect(next.customTokenKey(of: "other@game.iam.gserviceaccount.com", id: live.key.id) == nil)
      let records = try keyed.server.database.engine.read { snapshot in try snapshot.serviceAccounts() }
      #expect(records.allSatisfy { !$0.publicKey.contains("PRIVATE") })
      let log = try await keyed.server.send("GET", "/admin/v1/audit", headers: APIServer.admin)
      #expect(log.body.contains("service-accounts.create") && !log.body.contains("PRIVATE"))
    }
  }

  @Test("The token endpoint refuses in Google's words: forged, foreign, expired, of another server, no form")
  func refusals() async throws {
    try await KeyedServer.run { keyed in
      let account = try await keyed.account("ci", "admin")
      let now = keyed.server.clock.now()
      let good = try account.assertion(at: now)
      let foreign = try ServiceAccountKey(
        name: "ci", project: "game", server: "https://rewards.example.com", key: try SigningKey(pem: TestKeys.second)
      )
      .assertion(at: now)
      let elsewhere = try ServiceAccountKey(
        name: "ci", project: "game", server: "https://other.example.com", key: account.key
      ).assertion(at: now)
      let parts = good.split(separator: ".")
      let rows: [(String, String, String)] = [
        (foreign, "invalid_grant", "account not found"), (elsewhere, "invalid_grant", "meant for https://other.example.com"),
        (try account.assertion(at: now - 3_700_000), "invalid_grant", "short-lived"),
        (try account.assertion(at: now + 120_000), "invalid_grant", "short-lived"),
        ("\(parts[0]).\(parts[1]).AAAA", "invalid_grant", "Invalid JWT Signature."), ("nonsense", "invalid_grant", "parts"),
        (WebToken.unsigned(["iss": .string(account.email)]), "invalid_grant", "none"), ("", "invalid_request", "assertion"),
        (String(repeating: "a", count: 40_000), "invalid_request", "form"),
      ]
      for (assertion, code, text) in rows {
        let response = try await keyed.exchange(assertion)
        #expect(response.status == 400 && response.error == code, "\(response.body)")
        #expect(response.json?["error_description"]?.string?.contains(text) == true, "\(response.body)")
      }
      #expect(try await keyed.exchange(good, grant: "password").error == "unsupported_grant_type")
      #expect(try await keyed.server.send("POST", "/token").error == "invalid_request")
      #expect(try await keyed.server.send("GET", "/token").status == 405)
    }
  }

  /// What Google's library for Node signs: its header names no key.
  private func nameless(_ account: ServiceAccountKey, signedWith key: SigningKey, at now: Int64) throws -> String {
    let claims: JSON = [
      "iss": .string(account.email), "aud": "https://oauth2.googleapis.com/token", "iat": .int(now / 1000),
      "exp": .int(now / 1000 + 3600),
    ]
    let signed = WebToken.signedBytes(header: ["alg": "RS256"], claims: claims)
    return String(decoding: signed, as: UTF8.self) + "." + Base64.encode(try key.sign(signed), as: .url)
  }

  @Test("An assertion that names no key is the account's own or nobody's, and ends with the account")
  func namelessAssertions() async throws {
    try await KeyedServer.run { keyed in
      let (node, other) = (try await keyed.account("node", "viewer"), try await keyed.account("other", "admin"))
      let now = keyed.server.clock.now()
      let answer = try await keyed.exchange(nameless(node, signedWith: node.key, at: now))
      let token = try #require(answer.json?["access_token"]?.string)
      #expect(try await status(keyed, token) == 200)
      let forged = try await keyed.exchange(nameless(other, signedWith: node.key, at: now))
      #expect(forged.status == 400 && forged.error == "invalid_grant", "\(forged.body)")
      _ = try await keyed.server.send("DELETE", "/admin/v1/service-accounts/node", headers: APIServer.admin)
      #expect(try await status(keyed, token) == 401)
      let late = try await keyed.exchange(nameless(node, signedWith: node.key, at: now))
      #expect(late.status == 400 && late.error == "invalid_grant", "\(late.body)")
    }
  }

  @Test("What is asked of a new account is judged")
  func creation() async throws {
    try await KeyedServer.run { keyed in
      for body in [
        "{}", #"{"name":"Ci","role":"admin","server":"https://a.example"}"#,
        #"{"name":"ci","role":"boss","server":"https://a.b"}"#,
        #"{"name":"ci","role":"admin","server":"ftp://a.example"}"#, #"{"name":"ci","role":"admin","server":"https://"}"#,
        #"{"name":"ci","role":"admin","server":"https://a.example?x"}"#, #"{"name":"ci","role":"admin","server":"https:///a"}"#,
        #"{"name":"ci","role":"admin","server":"https://u@a.example"}"#,
        #"{"name":"ci","role":"admin","server":"https://a b"}"#,
        #"{"name":"ci","role":"admin","server":"https://[::1"}"#, #"{"name":"ci","role":"admin","server":"https://a:65536"}"#,
        #"{"name":"ci","role":"admin","server":"https://a.example","project":"a/b"}"#,
      ] {
        let response = try await keyed.server.send("POST", "/admin/v1/service-accounts", body, headers: APIServer.admin)
        #expect(response.status == 400, "\(body): \(response.body)")
      }
    }
  }

  @Test("The keys are published where clients look for them, with how long they may be kept")
  func keys() async throws {
    try await KeyedServer.run { keyed in
      let token = try WebToken(parsing: try KeyedServer.signingKey.get().token(["sub": "a"]))
      let account = "securetoken@system.gserviceaccount.com"
      for path in [
        "/.well-known/jwks.json", "/service_accounts/v1/jwk/\(account)", "/robot/v1/metadata/x509/\(account)",
        "/www.googleapis.com/service_accounts/v1/jwk/\(account)", "/www.googleapis.com/robot/v1/metadata/x509/\(account)",
        "/www.googleapis.com/identitytoolkit/v3/relyingparty/publicKeys", "/identitytoolkit/v3/relyingparty/publicKeys",
      ] {
        let response = try await keyed.server.send("GET", path)
        #expect(response.status == 200 && response["cache-control"] == "public, max-age=3600, must-revalidate", "\(path)")
        let key = try #require(try KeySet(document: Array(response.body.utf8)).key(token.keyID), "\(path)")
        try token.check(signature: key)
      }
    }
    try await APIServer.run { server in
      try await server.expect(
        .init("GET", "/.well-known/jwks.json", status: 404), .init("POST", "/token", "a=b", status: 401),
        .init("GET", "/admin/v1/service-accounts", headers: APIServer.admin, is: #"{"serviceAccounts":[]}"#),
        .init(
          "POST", "/admin/v1/service-accounts", #"{"name":"ci","role":"admin","server":"https://a.example"}"#,
          headers: APIServer.admin, status: 501))
    }
  }
}
