import Credentials
import Crypto
import NIOHTTP1
import StorageCore
import Testing
import TreeModel

/// Signing in to `doubloon serve` with the ID tokens of others, verified against keys that are fetched over TLS.
struct ProviderSignInTests {
  static let guild = """
    "providers": [{"id": "oidc.guild", "issuer": "ISSUER", "audiences": ["game-client", "game-web"], "ca": "ca.pem"},
      {"id": "google.com", "audiences": ["game-client"], "keys": "ISSUER/jwks", "ca": "ca.pem"},
      {"id": "apple.com", "audiences": ["com.example.game"], "keys": "ISSUER/jwks", "ca": "ca.pem"}]
    """

  private func token(_ server: IssuerServing, _ changes: [(String, JSON?)] = [], key: SigningKey? = nil) throws -> String {
    try (key ?? LocalIssuer.first.get()).token(LocalIssuer.claims(server.address, at: server.clock.now(), changes))
  }

  @Test("a player signs in by a provider that describes itself, and is the same player the next time")
  func signIn() async throws {
    try await IssuerServing.run(Self.guild) { server in
      let made = try await server.signIn(try token(server))
      #expect(made.status == 200, "\(made.json)")
      #expect(made.json["isNewUser"] == true && made.json["providerId"] == "oidc.guild" && made.json["email"] == "ann@x.io")
      let uid = made.json["localId"]?.string ?? ""
      #expect(try await server.read("/users/\(uid).json", auth: made.json["idToken"]?.string ?? "") == 200)
      let again = try await server.signIn(try token(server, [("iat", .int(IssuerServing.start / 1000 - 30))]))
      #expect(again.json["localId"]?.string == uid && again.json["isNewUser"] == nil)
      // The provider's own token opens nothing here: it was not said that it should.
      #expect(try await server.read("/users/abc123.json", auth: try token(server)) == 401)
      let guest = try await server.send(.POST, "/v1/accounts:signUp?key=k", ["returnSecureToken": true])
      let linked = try await server.signIn(
        try token(server, [("sub", "x2"), ("email", nil)]), linking: guest.json["idToken"]?.string)
      #expect(linked.json["localId"] == guest.json["localId"])
      #expect(server.issuer.fetches == 3, "one for each provider")
    }
  }

  @Test("Google by either of its names, Apple with the nonce whose hash the token carries")
  func known() async throws {
    try await IssuerServing.run(Self.guild) { server in
      for issuer: JSON in ["https://accounts.google.com", "accounts.google.com"] {
        let answer = try await server.signIn(try token(server, [("iss", issuer)]), by: "google.com")
        #expect(answer.status == 200 && answer.json["federatedId"] == "https://accounts.google.com/abc123", "\(answer.json)")
        #expect(answer.json["emailVerified"] == true)
      }
      let hash = SHA256.hash(data: Array("n0nce".utf8)).map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }.joined()
      let claims: [(String, JSON?)] = [
        ("iss", "https://appleid.apple.com"), ("aud", "com.example.game"), ("nonce", .string(hash)), ("sub", "001.a"),
        ("email", nil),
      ]
      let apple = try token(server, claims)
      #expect(try await server.signIn(apple, by: "apple.com", nonce: "n0nce").status == 200)
      for nonce in ["other", nil] {
        let refused = try await server.signIn(apple, by: "apple.com", nonce: nonce)
        #expect(refused.status == 400 && refused.json.errorMessage.hasPrefix("MISSING_OR_INVALID_NONCE : "), "\(refused.json)")
      }
    }
  }

  @Test("the word of a provider that is not trusted with addresses opens nobody's account")
  func addresses() async throws {
    try await IssuerServing.run(Self.guild) { server in
      let owner = try await server.send(
        .POST, "/v1/accounts:signUp?key=k", ["email": "ann@x.io", "password": "secret1", "returnSecureToken": true])
      let stranger = try await server.signIn(try token(server))
      #expect(stranger.status == 200 && stranger.json["needConfirmation"] == true && stranger.json["idToken"] == nil)
      let google = try await server.signIn(try token(server, [("iss", "accounts.google.com")]), by: "google.com")
      #expect(google.json["localId"] == owner.json["localId"] && google.json["idToken"] != nil)
    }
  }

  @Test("forged, foreign, expired and confused tokens are refused, and make no account")
  func refusals() async throws {
    try await IssuerServing.run(Self.guild) { server in
      let now = server.clock.now() / 1000
      let key = try LocalIssuer.first.get()
      let claims = LocalIssuer.claims(server.address, at: server.clock.now())
      let good = try token(server)
      let swapped = try token(server, [("sub", "somebody")])
      let parts = good.split(separator: ".")
      let cases: [(String, String, String)] = [
        ("unsigned", WebToken.unsigned(claims), "is signed with none, which is not accepted"),
        ("key confusion", LocalIssuer.confused(claims, key: key), "is signed with HS256, which is not accepted"),
        ("another's text", "\(parts[0]).\(swapped.split(separator: ".")[1]).\(parts[2])", "signature does not fit"),
        ("no signature", "\(parts[0]).\(parts[1]).", "signature does not fit"),
        ("audience", try token(server, [("aud", "other-game")]), "is meant for other-game"),
        ("several audiences", try token(server, [("aud", ["game-client", "evil"])]), "is meant for several"),
        ("issuer", try token(server, [("iss", "https://evil.example")]), "was issued by https://evil.example"),
        ("expired", try token(server, [("iat", .int(now - 7200)), ("exp", .int(now - 61))]), "has expired"),
        ("future", try token(server, [("iat", .int(now + 120))]), "is not valid yet"),
        ("key", try token(server, key: try LocalIssuer.second.get()), "which is not published"),
        ("nobody", try token(server, [("sub", nil)]), "its sub is no text"),
        ("no token", "e30", "instead of three"), ("JSON", "%7B%22sub%22%3A%22abc123%22%7D", "instead of three"),
      ]
      for (name, text, reason) in cases {
        let answer = try await server.signIn(text)
        #expect(
          answer.status == 400 && answer.json.errorMessage.hasPrefix("INVALID_IDP_RESPONSE : "), "\(name): \(answer.json)")
        #expect(answer.json.errorMessage.contains(reason), "\(name): \(answer.json.errorMessage)")
      }
      let unknown = try await server.signIn(good, by: "oidc.nobody")
      #expect(unknown.json.errorMessage.hasPrefix("OPERATION_NOT_ALLOWED : "), "\(unknown.json)")
      let account = try await server.send(
        .POST, "/v1/projects/game/accounts:query", ["returnUserInfo": false], token: ServeTests.token)
      #expect(account.json["recordsCount"] == "0", "\(account.json)")
      #expect(server.issuer.fetches == 3, "made-up keys fetch nothing within the minute")
    }
  }

  @Test("new keys are taken up, once for all who come at once; old ones that are gone sign nothing any more")
  func rotation() async throws {
    try await IssuerServing.run(Self.guild) { server in
      #expect(try await server.signIn(try token(server)).status == 200)
      let second = try LocalIssuer.second.get()
      server.issuer.publish([try LocalIssuer.first.get(), second])
      server.clock.advance(by: 61_000)
      let fetches = server.issuer.fetches
      let text = try token(server, key: second)
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<20 { group.addTask { try await server.signIn(text).status } }
        var all: [Int] = []
        for try await status in group { all.append(status) }
        return all
      }
      #expect(statuses == Array(repeating: 200, count: 20))
      #expect(server.issuer.fetches == fetches + 1)
      server.issuer.publish([second])
      // An hour later the publisher's time is over; then what is published counts.
      server.clock.advance(by: 3_601_000)
      let old = try await server.signIn(try token(server))
      #expect(old.status == 400 && old.json.errorMessage.contains("which is not published"), "\(old.json)")
      #expect(try await server.signIn(try token(server, key: second)).status == 200)
    }
  }

  @Test("an issuer that cannot be reached is a refusal for the moment, told at once; it is asked once a minute")
  func unreachable() async throws {
    try await IssuerServing.run(Self.guild, mood: .hangsUp) { server in
      for _ in 0..<3 {
        let answer = try await server.signIn(try token(server))
        #expect(answer.status == 503 && answer.json["error"]?["status"] == "UNAVAILABLE", "\(answer.json)")
        #expect(answer.json.errorMessage.contains("the public keys of oidc.guild cannot be fetched"), "\(answer.json)")
      }
      #expect(server.issuer.fetches == 0)
      server.issuer.become(.describesAnother)
      server.clock.advance(by: 61_000)
      #expect(try await server.signIn(try token(server)).status == 503)
      server.issuer.become(.well)
      server.clock.advance(by: 61_000)
      #expect(try await server.signIn(try token(server)).status == 200)
      // Down again: what is known goes on for a day, and a key that may be new is no forgery.
      server.issuer.become(.hangsUp)
      server.clock.advance(by: 3_601_000)
      #expect(try await server.signIn(try token(server)).status == 200)
      #expect(try await server.signIn(try token(server, key: try LocalIssuer.second.get())).status == 503)
    }
  }

  @Test("an issuer that cannot prove who it is, is not listened to")
  func untrusted() async throws {
    let accounts = Self.guild.replacing(", \"ca\": \"ca.pem\"", with: "")
    try await IssuerServing.run(accounts) { server in
      let answer = try await server.signIn(try token(server))
      #expect(answer.status == 503 && server.issuer.fetches == 0)
    }
  }
}
