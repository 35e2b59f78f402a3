import NIOHTTP1
import StorageCore
import Testing
import TextFormats
import TreeModel

@testable import Credentials

/// Custom tokens in production: signed by the key of a service account, or nothing.
struct CustomTokenTests {
  private func account(_ server: IssuerServing, _ name: String, _ role: String) async throws -> ServiceAccountKey {
    let answer = try await server.send(
      .POST, "/admin/v1/service-accounts",
      ["name": .string(name), "role": .string(role), "server": "https://rewards.example.com"], token: ServeTests.token)
    return try #require(ServiceAccountKey(file: answer.json["key"] ?? .null), "\(answer.json)")
  }

  private func claims(_ account: ServiceAccountKey, _ server: IssuerServing, _ changes: [(String, JSON?)] = []) -> JSON {
    let now = server.clock.now() / 1000
    let usual: [(String, JSON?)] = [
      ("iss", .string(account.email)), ("sub", .string(account.email)), ("aud", .string(CustomToken.audience)),
      ("uid", "jim"), ("iat", .int(now)), ("exp", .int(now + 3600)), ("claims", ["guild": "pirates"]),
    ]
    let kept = usual.filter { name, _ in !changes.contains { $0.0 == name } } + changes
    return .object(kept.compactMap { name, value in value.map { JSON.Member(key: name, value: $0) } })
  }

  private func signIn(_ server: IssuerServing, _ token: String) async throws -> (status: Int, json: JSON) {
    let answer = try await server.send(
      .POST, "/v1/accounts:signInWithCustomToken?key=k", ["token": .string(token), "returnSecureToken": true])
    return (answer.status, answer.json)
  }

  /// The same without a key's name in its header, as Node's SDK writes them.
  private func nameless(_ claims: JSON, _ key: SigningKey) throws -> String {
    let bytes = WebToken.signedBytes(header: ["alg": "RS256", "typ": "JWT"], claims: claims)
    return String(decoding: bytes, as: UTF8.self) + "." + Base64.encode(try key.sign(bytes), as: .url)
  }

  @Test("An administrator's key signs players in, with claims that rules see; named in the header or not")
  func signIn() async throws {
    let rules = "{\"rules\": {\".read\": \"auth.token.guild === 'pirates'\"}}"
    try await IssuerServing.run("", rules: rules) { server in
      let key = try await account(server, "game-server", "admin")
      let made = try await signIn(server, try key.key.token(claims(key, server)))
      #expect(made.status == 200 && made.json["isNewUser"] == true, "\(made.json)")
      #expect(try await server.read("/a.json", auth: made.json["idToken"]?.string ?? "") == 200)
      let again = try await signIn(server, try nameless(claims(key, server), key.key))
      #expect(again.status == 200 && again.json["isNewUser"] == false, "\(again.json)")
    }
  }

  @Test("what no administrator's key has signed is refused")
  func refusals() async throws {
    try await IssuerServing.run("") { server in
      let admin = try await account(server, "game-server", "admin")
      let viewer = try await account(server, "watcher", "viewer")
      let support = try await account(server, "helper", "support")
      let now = server.clock.now() / 1000
      let unsigned: JSON = ["uid": "jim"]
      let cases: [(String, String)] = [
        ("viewer", try viewer.key.token(claims(viewer, server))), ("support", try support.key.token(claims(support, server))),
        ("another's name", try viewer.key.token(claims(admin, server))),
        ("another's name, no key's name", try nameless(claims(admin, server), viewer.key)),
        ("unsigned", WebToken.unsigned(claims(admin, server))), ("plain", "{\"uid\":\"jim\"}"),
        ("unsigned and short", WebToken.unsigned(unsigned)),
        ("confused", LocalIssuer.confused(claims(admin, server), key: admin.key)),
        ("audience", try admin.key.token(claims(admin, server, [("aud", "game")]))),
        ("expired", try admin.key.token(claims(admin, server, [("iat", .int(now - 3700)), ("exp", .int(now - 100))]))),
        ("long", try admin.key.token(claims(admin, server, [("exp", .int(now + 3601))]))),
      ]
      for (name, token) in cases {
        let answer = try await signIn(server, token)
        #expect(
          answer.status == 400 && answer.json.errorMessage.hasPrefix("INVALID_CUSTOM_TOKEN : "), "\(name): \(answer.json)")
      }
      let reserved = try await signIn(server, try admin.key.token(claims(admin, server, [("claims", ["sub": "x"])])))
      #expect(reserved.json.errorMessage == "FORBIDDEN_CLAIM : sub")
      #expect(
        try await signIn(server, try admin.key.token(claims(admin, server, [("uid", nil)]))).json.errorMessage
          == "MISSING_IDENTIFIER")
      let good = try admin.key.token(claims(admin, server))
      #expect(try await signIn(server, good).status == 200)
      _ = try await server.send(.DELETE, "/admin/v1/service-accounts/game-server", token: ServeTests.token)
      #expect(try await signIn(server, good).json.errorMessage.hasPrefix("INVALID_CUSTOM_TOKEN : "))
    }
  }
}
