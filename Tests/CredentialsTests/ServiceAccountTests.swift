@testable import Credentials
import Testing
import TextFormats
import TreeModel

@Suite struct ServiceAccountTests {
  static let server = "https://rewards.example.com"
  static let account = ServiceAccountKey(name: "ci", project: "demo", server: server, key: Keys.first)

  static func assertion(_ changes: [(String, JSON?)] = [], key: SigningKey = Keys.first) throws -> String {
    let names = Set(changes.map(\.0))
    let usual: [(String, JSON?)] = [
      ("iss", .string(account.email)), ("aud", .string(server + "/token")), ("iat", 1_800_000_000), ("exp", 1_800_003_600),
      ("scope", "a b"),
    ]
    return try key.token(
      .object(
        (usual.filter { !names.contains($0.0) } + changes).compactMap { name, value in
          value.map { JSON.Member(key: name, value: $0) }
        }))
  }

  static func verify(_ text: String, at now: Int64 = Keys.now) throws(TokenError) -> ServiceAccountAssertion {
    try ServiceAccountAssertion(text, at: now) { email, id in
      guard email == account.email, id == nil || id == Keys.first.id else { return nil }
      return ServiceAccountAssertion.Signer(
        id: Keys.first.id, key: Keys.first.verificationKey, tokenURI: account.tokenURI)
    }
  }

  /// As Google's library for Node writes it: the header is `{"alg":"RS256"}` and names no key.
  static func nameless(key: SigningKey) throws -> String {
    let claims: JSON = [
      "iss": .string(account.email), "aud": "https://oauth2.googleapis.com/token", "iat": 1_800_000_000, "exp": 1_800_003_600,
    ]
    let signature = try key.sign(WebToken.signedBytes(header: ["alg": "RS256"], claims: claims))
    return Keys.token(["alg": "RS256"], claims, signature: signature)
  }

  @Test("an assertion that names no key is judged by the account's one key, and no other passes")
  func namelessAssertions() throws {
    #expect(try Self.verify(try Self.nameless(key: Keys.first)).keyID == Keys.first.id)
    #expect(throws: TokenError.badSignature) { try Self.verify(try Self.nameless(key: Keys.second)) }
  }

  @Test("the key file is Google's, with this server as the place to get tokens")
  func file() throws {
    let file = Self.account.file
    #expect(file["type"] == "service_account" && file["project_id"] == "demo")
    #expect(
      file["client_email"] == "ci@demo.iam.gserviceaccount.com" && file["token_uri"] == "https://rewards.example.com/token")
    #expect(file["private_key_id"]?.string == Keys.first.id.text && file["client_id"]?.string?.utf8.count == 21)
    #expect(try SigningKey(pem: file["private_key"]?.string ?? "").id == Keys.first.id)
    let back = try #require(ServiceAccountKey(file: file))
    #expect(back.file == file)
    #expect(try Self.verify(back.assertion(at: Keys.now)).email == Self.account.email)
    for broken: JSON in [
      [:], ["type": "service_account"],
      .object((file.object ?? []).map { .init(key: $0.key, value: $0.key == "client_email" ? "ci@evil.example" : $0.value) }),
      .object((file.object ?? []).map { .init(key: $0.key, value: $0.key == "private_key" ? "x" : $0.value) }),
    ] {
      #expect(ServiceAccountKey(file: broken) == nil)
    }
    for (name, isLegal) in [
      ("ci", true), ("a", true), ("a-1", true), ("", false), ("1a", false), ("A", false), ("a_b", false), ("a@b", false),
      ("-a", false), (String(repeating: "a", count: 64), false), ("é", false),
    ] {
      #expect(ServiceAccountKey.isLegal(name: name) == isLegal, "\(name)")
    }
  }

  @Test("an assertion is judged: signer, audience, time, length")
  func assertions() throws {
    let good = try Self.verify(try Self.assertion())
    #expect(
      good.email == Self.account.email && good.expiresAt == 1_800_003_600 && good.scope == "a b" && good.keyID == Keys.first.id)
    #expect(throws: TokenError.unknownKey(Keys.second.id)) { try Self.verify(try Self.assertion(key: Keys.second)) }
    #expect(throws: TokenError.wrongAudience("https://other.example.com/token")) {
      try Self.verify(try Self.assertion([("aud", "https://other.example.com/token")]))
    }
    // Google's library for Python writes this, whatever the key file says.
    #expect(try Self.verify(try Self.assertion([("aud", "https://oauth2.googleapis.com/token")])).email == Self.account.email)
    #expect(throws: TokenError.expired) { try Self.verify(try Self.assertion(), at: Keys.now + 3_660_000) }
    #expect(throws: TokenError.notYetValid) { try Self.verify(try Self.assertion(), at: Keys.now - 61_000) }
    #expect(throws: TokenError.self) { try Self.verify(try Self.assertion([("exp", 1_800_003_601)])) }
    #expect(throws: TokenError.wrongIssuer(Self.account.email)) { try Self.verify(try Self.assertion([("sub", "boss@x.io")])) }
    #expect(throws: TokenError.self) { try Self.verify(try Self.assertion([("iss", nil)])) }
    #expect(throws: TokenError.unsupportedAlgorithm("none")) {
      try Self.verify(WebToken.unsigned(["iss": .string(Self.account.email)]))
    }
  }

  @Test("an access token grants what it was issued for, on this server's word alone")
  func accessTokens() throws {
    let keys = CurrentKeys(Keys.ring())
    let tokens = AccessTokens(keys: keys)
    let grant = AccessGrant(account: "ci", keyID: KeyID("k"), role: .support, expiresAt: 1_800_000_100)
    let text = tokens.token(for: grant, at: Keys.now)
    #expect(text.hasPrefix("ya29."))
    #expect(try tokens.grant(text, at: Keys.now) == grant)
    #expect(throws: TokenError.expired) { try tokens.grant(text, at: Keys.now + 100_000) }
    // Another role under the same code.
    let parts = text.dropFirst(AccessTokens.prefix.count).split(separator: ".").map(String.init)
    let body = String(decoding: try #require(Base64.decode(parts[0].utf8)), as: UTF8.self)
    let forged = Base64.encode(body.replacing("support", with: "admin").utf8, as: .url)
    #expect(throws: TokenError.badSignature) { try tokens.grant(AccessTokens.prefix + forged + "." + parts[1], at: Keys.now) }
    for bad in [
      "", "owner", "ya29.x", AccessTokens.prefix, AccessTokens.prefix + parts[0], AccessTokens.prefix + parts[0] + ".",
      text + ".", String(repeating: "a", count: 5000), AccessTokens.prefix + String(repeating: ".", count: 1000),
    ] {
      #expect(throws: TokenError.self) { try tokens.grant(bad, at: Keys.now) }
    }
    let other = AccessTokens(keys: CurrentKeys(KeyRing([KeyRing.Entry(key: Keys.second, signsFrom: 0)])))
    #expect(throws: TokenError.unknownKey(Keys.first.id)) { try other.grant(text, at: Keys.now) }
    // Rotation leaves the tokens of the key before valid.
    keys.replace(with: Keys.ring().adding(Keys.second, from: 1))
    #expect(try tokens.grant(text, at: Keys.now) == grant)
    #expect(try tokens.grant(tokens.token(for: grant, at: Keys.now), at: Keys.now) == grant)
  }

  @Test("an ID token is no access token, an access token no ID token")
  func apart() throws {
    let keys = CurrentKeys(Keys.ring())
    let access = AccessTokens(keys: keys)
    #expect(throws: TokenError.self) { try access.grant(try Keys.first.token(Keys.claims()), at: Keys.now) }
    let text = access.token(for: AccessGrant(account: "a", keyID: KeyID("k"), role: .admin, expiresAt: .max), at: Keys.now)
    #expect(throws: TokenError.self) { try Keys.issuer(.unsigned).verify(text, project: nil, at: Keys.now) }
  }

  @Test("each role may what the ones before it may")
  func roles() {
    #expect(AdminRole.allCases.sorted() == [.viewer, .support, .admin])
  }
}
