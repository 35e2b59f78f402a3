import Credentials
import NIOCore
import NIOHTTP1
import StorageCore
import Testing
import TreeModel

/// The tree opens to users of somebody else: a Firebase project's, by its certificates, and an issuer's that is trusted so far.
struct ForeignUserTests {
  private static let moving =
    "\"firebaseProjects\": [{\"project\": \"old-game\", \"keys\": \"ISSUER/x509\", \"ca\": \"ca.pem\"}]"

  /// An ID token as Firebase issues them.
  private func firebase(_ server: IssuerServing, _ project: String = "old-game", _ changes: [(String, JSON?)] = []) throws
    -> String
  {
    let usual: [(String, JSON?)] = [
      ("aud", .string(project)), ("sub", "U28old"), ("user_id", "U28old"), ("auth_time", .int(IssuerServing.start / 1000)),
      ("firebase", ["identities": [:], "sign_in_provider": "anonymous"]), ("provider_id", "anonymous"),
    ]
    let kept = usual.filter { name, _ in !changes.contains { $0.0 == name } }
    return try LocalIssuer.first.get().token(
      LocalIssuer.claims("https://securetoken.google.com/\(project)", at: server.clock.now(), kept + changes))
  }

  @Test("a Firebase project's players come with their own tokens and ids; other projects' do not")
  func firebase() async throws {
    try await IssuerServing.run(Self.moving) { server in
      let token = try firebase(server)
      #expect(try await server.read("/users/U28old.json", auth: token) == 200)
      #expect(try await server.read("/users/other.json", auth: token) == 401)
      #expect(try await server.send(.GET, "/users/U28old.json", token: token).status == 200, "behind Bearer")
      #expect(try await server.send(.GET, "/admin/v1/status", token: token).status == 401)
      #expect(try await server.read("/users/U28old.json", auth: try firebase(server, "other-game")) == 401)
      let forged = WebToken.unsigned(try WebToken(parsing: token).claims)
      #expect(try await server.read("/users/U28old.json", auth: forged) == 401)
      let confused = LocalIssuer.confused(try WebToken(parsing: token).claims, key: try LocalIssuer.first.get())
      #expect(try await server.read("/users/U28old.json", auth: confused) == 401)
      // It is a player of the database; the accounts here are others.
      let lookup = try await server.send(.POST, "/v1/accounts:lookup?key=k", ["idToken": .string(token)])
      #expect(lookup.json.errorMessage == "INVALID_ID_TOKEN")
      // Remembered tokens end as well, and go with their key.
      server.clock.advance(by: 3_600_000 + 61_000)
      #expect(try await server.read("/users/U28old.json", auth: token) == 401)
      let fresh = try firebase(server)
      #expect(try await server.read("/users/U28old.json", auth: fresh) == 200)
      server.issuer.publish([try LocalIssuer.second.get()])
      server.clock.advance(by: 3_601_000)
      #expect(try await server.until { try await server.read("/users/U28old.json", auth: fresh) == 401 })
      #expect(server.issuer.fetches == 3)
    }
  }

  @Test("the project may have the name of the house's own: each key knows its tokens")
  func sameName() async throws {
    let accounts = Self.moving.replacing("old-game", with: "game")
    try await IssuerServing.run(accounts) { server in
      let made = try await server.send(.POST, "/v1/accounts:signUp?key=k", ["returnSecureToken": true])
      let uid = made.json["localId"]?.string ?? ""
      #expect(try await server.read("/users/\(uid).json", auth: made.json["idToken"]?.string ?? "") == 200)
      #expect(try await server.read("/users/U28old.json", auth: try firebase(server, "game")) == 200)
      // A disabled account is refused with tokens of every issuer; so is a revoked one.
      let token = try firebase(server, "game", [("sub", .string(uid)), ("user_id", .string(uid))])
      #expect(try await server.read("/users/\(uid).json", auth: token) == 200)
      let path = "/v1/projects/game/accounts:update"
      let change: JSON = ["localId": .string(uid), "disableUser": true]
      #expect(try await server.send(.POST, path, change, token: ServeTests.token).status == 200)
      server.clock.advance(by: 7_300_000)
      let later = try firebase(server, "game", [("sub", .string(uid)), ("user_id", .string(uid))])
      #expect(try await server.read("/users/\(uid).json", auth: later) == 401)
      // What is in memory of it goes in time; the account itself is still disabled.
      let isTold = try await server.until {
        try await server.send(.GET, "/users/\(uid).json?auth=\(later)").json["error"] == "The account is disabled."
      }
      #expect(isTold)
    }
  }

  @Test("an issuer whose tokens open the database says which users there are, behind a prefix, and not what they came by")
  func database() async throws {
    let accounts = """
      "providers": [{"id": "oidc.guild", "issuer": "ISSUER", "audiences": ["game-client"], "ca": "ca.pem", "database": true,
        "uidPrefix": "guild-"}]
      """
    let rules = """
      {"rules": {"users": {"$uid": {".read": "auth.uid === $uid && auth.token.firebase.sign_in_provider === 'oidc.guild' && auth.provider === 'oidc.guild'"}}}}
      """
    try await IssuerServing.run(accounts, rules: rules) { server in
      let claims: [(String, JSON?)] = [("firebase", ["sign_in_provider": "google.com"]), ("nonce", "unasked")]
      let token = try LocalIssuer.first.get().token(LocalIssuer.claims(server.address, at: server.clock.now(), claims))
      #expect(try await server.read("/users/guild-abc123.json", auth: token) == 200)
      #expect(try await server.read("/users/abc123.json", auth: token) == 401)
      #expect(try await server.signIn(token, nonce: nil).status == 400, "signing in asks for the nonce")
    }
  }

  @Test("while the issuer cannot be reached its players are told to come again, and nobody waits")
  func unreachable() async throws {
    try await IssuerServing.run(Self.moving, mood: .hangsUp) { server in
      let token = try firebase(server)
      let answer = try await server.send(.GET, "/users/U28old.json?auth=\(token)")
      #expect(answer.status == 503 && answer.headers["Retry-After"] == ["1"])
      #expect(answer.json["error"]?.string?.contains("public keys of firebase.old-game cannot be fetched") == true)
      server.issuer.become(.well)
      server.clock.advance(by: 61_000)
      #expect(try await server.read("/users/U28old.json", auth: token) == 200)
    }
  }
}
