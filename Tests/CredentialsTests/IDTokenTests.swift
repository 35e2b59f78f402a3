@testable import Credentials
import TestSupport
import Testing
import TextFormats
import TreeModel

@Suite struct IDTokenTests {
  static func object(_ json: JSON) -> [String: JSON] {
    Dictionary((json.object ?? []).map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
  }

  @Test("check 2: the claims of an anonymous user, then of the same one linked, are the protocol's examples")
  func examples() throws {
    let anonymous: JSON = [
      "provider_id": "anonymous", "auth_time": 1_800_000_000, "user_id": "U28",
      "firebase": ["identities": [:], "sign_in_provider": "anonymous"], "iat": 1_800_000_000, "exp": 1_800_003_600,
      "aud": "demo", "iss": "https://securetoken.google.com/demo", "sub": "U28",
    ]
    let linked: JSON = [
      "email": "a@x.io", "email_verified": false, "auth_time": 1_800_000_300, "user_id": "U28",
      "firebase": ["identities": ["email": ["a@x.io"]], "sign_in_provider": "password"], "iat": 1_800_000_300,
      "exp": 1_800_003_900, "aud": "demo", "iss": "https://securetoken.google.com/demo", "sub": "U28",
    ]
    let issuer = Keys.issuer(.unsigned)
    var subject = TokenSubject(uid: "U28")
    let first = try issuer.token(
      for: subject, signIn: SignIn(provider: "anonymous", time: 1_800_000_000), project: "demo", at: Keys.now)
    #expect(first.hasSuffix("."))
    #expect(Self.object(try WebToken(parsing: first).claims) == Self.object(anonymous))
    subject.email = "a@x.io"
    let second = try issuer.token(
      for: subject, signIn: SignIn(provider: "password", time: 1_800_000_300), project: "demo", at: Keys.now + 300_999)
    #expect(Self.object(try WebToken(parsing: second).claims) == Self.object(linked))
  }

  @Test("check 45: account claims, then the custom token's, then the server's; reserved names stay the server's")
  func precedence() throws {
    var subject = TokenSubject(uid: "U28")
    subject.displayName = "Ann"
    subject.photoURL = "https://x.io/a.png"
    subject.phoneNumber = "+15550100"
    subject.customClaims = [
      "name": "Boss", "level": 1, "sub": "other", "firebase": [:], "guild": "red", "email_verified": true,
    ]
    subject.identities = [TokenSubject.Identity(provider: "google.com", ids: ["g-1"])]
    let signIn = SignIn(provider: "custom", time: 1_700_000_000, extraClaims: ["level": 2, "exp": 9, "user_id": "other"])
    let text = try Keys.issuer(.signed).token(for: subject, signIn: signIn, project: "demo", at: Keys.now)
    let claims = try WebToken(parsing: text).claims
    #expect(claims["name"] == "Boss" && claims["picture"] == "https://x.io/a.png" && claims["phone_number"] == "+15550100")
    #expect(claims["level"] == 2 && claims["guild"] == "red" && claims["sub"] == "U28" && claims["user_id"] == "U28")
    #expect(claims["exp"] == 1_800_003_600 && claims["auth_time"] == 1_700_000_000)
    #expect(claims["email_verified"] == nil && claims["provider_id"] == nil)
    #expect(claims["firebase"]?["identities"] == ["phone": ["+15550100"], "google.com": ["g-1"]])
  }

  @Test("check 64: in signed mode, unsigned, foreign, expired and altered tokens are told apart and refused")
  func refusals() throws {
    let issuer = Keys.issuer(.signed)
    func verify(_ text: String, at now: Int64 = Keys.now) throws(TokenError) -> IDToken {
      try issuer.verify(text, project: "demo", at: now)
    }
    let good = try Keys.first.token(Keys.claims())
    #expect(try verify(good).uid == "U28")
    #expect(throws: TokenError.expired) { try verify(good, at: Keys.now + 3_600_000) }
    #expect(throws: TokenError.notYetValid) { try verify(good, at: Keys.now - 61_000) }
    #expect(throws: TokenError.unsupportedAlgorithm("none")) { try verify(WebToken.unsigned(Keys.claims())) }
    #expect(throws: TokenError.wrongAudience("other")) {
      try verify(
        try Keys.first.token(Keys.claims([("aud", "other"), ("iss", "https://securetoken.google.com/other")])))
    }
    #expect(throws: TokenError.wrongIssuer("https://evil.example")) {
      try verify(try Keys.first.token(Keys.claims([("iss", "https://evil.example")])))
    }
    #expect(throws: TokenError.unknownKey(Keys.second.id)) { try verify(try Keys.second.token(Keys.claims())) }
    let parts = good.split(separator: ".").map(String.init)
    let altered = Base64.encode(Array(JSONWriterText.of(Keys.claims([("sub", "boss")])).utf8), as: .url)
    #expect(throws: TokenError.badSignature) { try verify("\(parts[0]).\(altered).\(parts[2])") }
    #expect(throws: TokenError.badSignature) { try verify("\(parts[0]).\(parts[1]).") }
    for claims in [
      Keys.claims([("sub", nil)]), Keys.claims([("sub", "")]), Keys.claims([("sub", 5)]), Keys.claims([("aud", ["demo"])]),
      Keys.claims([("exp", nil)]), Keys.claims([("sub", .string(String(repeating: "u", count: 129)))]),
    ] {
      #expect(throws: TokenError.self) { try verify(try Keys.first.token(claims)) }
    }
  }

  @Test("in development both kinds are believed, and test libraries' tokens of 1970 never end")
  func development() throws {
    let issuer = Keys.issuer(.unsigned)
    #expect(try issuer.verify(WebToken.unsigned(Keys.claims()), project: nil, at: Keys.now).provider == "anonymous")
    #expect(try issuer.verify(try Keys.first.token(Keys.claims()), project: "demo", at: Keys.now).uid == "U28")
    let mock = WebToken.unsigned(Keys.claims([("iat", 0), ("exp", 3600)]))
    #expect(try issuer.verify(mock, project: "demo", at: Keys.now).issuedAt == 0)
    let old = WebToken.unsigned(Keys.claims([("iat", 1), ("exp", 3601)]))
    #expect(throws: TokenError.expired) { try issuer.verify(old, project: "demo", at: Keys.now) }
    // Times of the test's own do not change whose it is: the header does not say what ours do.
    let timed = Keys.token(["alg": "none", "type": "JWT"], Keys.claims([("iat", 1), ("exp", 3601)]), signature: [])
    #expect(try issuer.verify(timed, project: "demo", at: Keys.now).expiresAt == nil)
    let signedMock = try Keys.first.token(Keys.claims([("iat", 0), ("exp", 3600)]))
    for mode in [IDTokenIssuer.Mode.signed, .unsigned] {
      #expect(throws: TokenError.expired) { try Keys.issuer(mode).verify(signedMock, project: "demo", at: Keys.now) }
    }
    #expect(throws: TokenError.unknownKey(Keys.second.id)) {
      try issuer.verify(try Keys.second.token(Keys.claims()), project: "demo", at: Keys.now)
    }
  }

  @Test("a session cookie has the token's claims, its own issuer and time, and is no ID token")
  func cookies() throws {
    let issuer = Keys.issuer(.signed)
    let token = try issuer.verify(try Keys.first.token(Keys.claims([("vip", true)])), project: "demo", at: Keys.now)
    let cookie = try issuer.sessionCookie(for: token, duration: 1_209_600, at: Keys.now + 5000)
    let read = try issuer.verify(sessionCookie: cookie, project: "demo", at: Keys.now + 1_209_600_000)
    #expect(read.claims["iss"] == "https://session.firebase.google.com/demo")
    #expect(read.claims["vip"] == true && read.authTime == 1_800_000_000 && read.issuedAt == 1_800_000_005)
    #expect(throws: TokenError.expired) {
      try issuer.verify(sessionCookie: cookie, project: "demo", at: Keys.now + 1_209_605_000)
    }
    #expect(throws: TokenError.wrongIssuer("https://session.firebase.google.com/demo")) {
      try issuer.verify(cookie, project: "demo", at: Keys.now)
    }
    #expect(throws: TokenError.wrongIssuer("https://securetoken.google.com/demo")) {
      try issuer.verify(sessionCookie: try Keys.first.token(Keys.claims()), project: "demo", at: Keys.now)
    }
  }

  @Test("a verified token is remembered, but not past its end, nor past its key; and memory is bounded")
  func cache() throws {
    let keys = CurrentKeys(Keys.ring())
    let issuer = IDTokenIssuer(mode: .signed, keys: keys, cacheSize: 8)
    let text = try Keys.first.token(Keys.claims())
    let first = try issuer.verify(text, project: "demo", at: Keys.now)
    #expect(try issuer.verify(text, project: "demo", at: Keys.now) === first)
    #expect(throws: TokenError.expired) { try issuer.verify(text, project: "demo", at: Keys.now + 3_600_000) }
    #expect(throws: TokenError.wrongAudience("demo")) { try issuer.verify(text, project: "other", at: Keys.now) }
    keys.replace(with: KeyRing([KeyRing.Entry(key: Keys.second, signsFrom: 0)]))
    #expect(throws: TokenError.unknownKey(Keys.first.id)) { try issuer.verify(text, project: "demo", at: Keys.now) }
    let tokens = VerifiedTokens(capacity: 8)
    for number in 0..<100 { tokens.insert(first, for: "\(number)", signedWith: Keys.first.id) }
    #expect(tokens.count <= 8)
    #expect(tokens.token(for: "99", isPublished: { Keys.ring().verificationKey($0) != nil }) === first)
    #expect(tokens.token(for: "1", isPublished: { Keys.ring().verificationKey($0) != nil }) == nil)
  }

  @Test(
    "claims of an account: an object of 1000 characters without reserved names",
    arguments: [
      ("", nil), ("{}", nil), (#"{"a":[1]}"#, nil), ("[]", "INVALID_CLAIMS"), ("{", "INVALID_CLAIMS"),
      (#"{"sub":1}"#, "FORBIDDEN_CLAIM : sub"), (#"{"a":1,"firebase":{}}"#, "FORBIDDEN_CLAIM : firebase"),
      (#"{"a":""# + String(repeating: "x", count: 1000) + #""}"#, "CLAIMS_TOO_LARGE"),
    ] as [(String, String?)])
  func claims(_ text: String, _ message: String?) {
    var found: String?
    do throws(ClaimsError) { _ = try ReservedClaims.claims(of: text) } catch { found = error.wireMessage }
    #expect(found == message)
  }

  @Test("a refresh token is 256 bits of chance; what is stored does not show it")
  func refresh() throws {
    var random = SplitMix64(seed: 1)
    let token = RefreshToken(using: &random)
    let other = RefreshToken(using: &random)
    #expect(token.text != other.text && token.text.utf8.count == 43)
    #expect(RefreshToken(token.text)?.hash == token.hash && token.hash.count == 32)
    for bad in ["", "abc", token.text + "A", String(repeating: "!", count: 43)] { #expect(RefreshToken(bad) == nil) }
  }
}
