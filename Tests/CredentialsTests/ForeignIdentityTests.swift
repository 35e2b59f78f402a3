@testable import Credentials
import Testing
import TreeModel

@Suite struct ForeignIdentityTests {
  /// A token as Apple issues them, made with another library; the nonce is `n0nce`.
  static let apple =
    "eyJhbGciOiAiRVMyNTYiLCAia2lkIjogImUxIn0."
    + "eyJpc3MiOiAiaHR0cHM6Ly9hcHBsZWlkLmFwcGxlLmNvbSIsICJhdWQiOiAiY29tLmV4YW1wbGUuZ2FtZSIsICJzdWIiOiAiMDA0MiIsICJpYXQi"
    + "OiAxODAwMDAwMDAwLCAiZXhwIjogMTgwMDAwMzYwMCwgImVtYWlsIjogIkFAeC5pbyIsICJlbWFpbF92ZXJpZmllZCI6ICJ0cnVlIiwgIm5vbmNl"
    + "IjogIjBhOTIxMzNiNDUxMzc4Y2ExZjk5MWU1MDdmZDhmMTUwMTdkMTU4ZTFiODU2ZDc3ZTBiNjIyMzRhN2NmYTg1M2EifQ"
    + "."
    + "CjqmsNZPAc24zTI1Gb6O4_S4anvYNBzhHJS6wykmKz0e6tIrVNJ9LSbLABru-HnW318C9Phd7H3u-B23No3XbQ"
  /// The public key of it as a certificate, made with another tool.
  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBdTCCARugAwIBAgIUJizl6Owufxrps5yBNRBebqlY/qowCgYIKoZIzj0EAwIw
    DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjIwMjExMTlaGA8yMTI2MTAyOTAyMTEx
    OVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPRs
    kvBtFPSTZisoCbBAiFDLRDIYEAQlwacfblKD4k30y6D0d8CYuFrET8jfODZtsudu
    w5EXXKH4SxpW0t6g9CajUzBRMB0GA1UdDgQWBBRUmvKkNWWC+KdXQrXj3/GyDICP
    JTAfBgNVHSMEGDAWgBRUmvKkNWWC+KdXQrXj3/GyDICPJTAPBgNVHRMBAf8EBTAD
    AQH/MAoGCCqGSM49BAMCA0gAMEUCIQC6SNrQvUgPcM6aMztC+sWAuB4nuSWqUrVE
    ZnHNtuoATQIgN5IJm0vyJi2fF2+1kfr7q2+9w9jNghnyHn280j709YQ=
    -----END CERTIFICATE-----
    """
  static let jwks = """
    {"keys":[{"kty":"OKP","kid":"z"},{"kty":"EC","crv":"P-256","use":"sig","kid":"e1",
    "x":"9GyS8G0U9JNmKygJsECIUMtEMhgQBCXBpx9uUoPiTfQ","y":"y6D0d8CYuFrET8jfODZtsuduw5EXXKH4SxpW0t6g9CY"}]}
    """
  static let provider = IdentityProvider.apple(clientIDs: ["com.example.game"])

  static func verify(
    _ text: String = apple, _ provider: IdentityProvider = provider, nonce: String? = "n0nce", at now: Int64 = Keys.now
  ) throws -> ForeignIdentity {
    try ForeignIdentity(text, from: provider, keys: try KeySet(document: Array(jwks.utf8)), nonce: nonce, at: now)
  }

  @Test("Sign in with Apple: ES256, the audience, the nonce's hash, email_verified as a text")
  func apple() throws {
    let identity = try Self.verify()
    #expect(identity.provider == "apple.com" && identity.subject == "0042")
    #expect(identity.email == "a@x.io" && identity.isEmailVerified && identity.name == nil)
  }

  @Test("another nonce, application, issuer, time or key is refused")
  func refusals() throws {
    #expect(throws: TokenError.wrongNonce) { try Self.verify(nonce: "other") }
    #expect(throws: TokenError.wrongNonce) { try Self.verify(nonce: nil) }
    #expect(throws: TokenError.wrongAudience("com.example.game")) {
      try Self.verify(Self.apple, .apple(clientIDs: ["com.example.other"]))
    }
    #expect(throws: TokenError.wrongIssuer("https://appleid.apple.com")) {
      try Self.verify(Self.apple, .google(clientIDs: ["com.example.game"]))
    }
    #expect(throws: TokenError.expired) { try Self.verify(at: Keys.now + 3_660_000) }
    #expect(throws: TokenError.notYetValid) { try Self.verify(at: Keys.now - 61_000) }
    #expect(throws: TokenError.unknownKey(Keys.first.id)) { try Self.verify(try Keys.first.token(Keys.claims())) }
    #expect(throws: TokenError.unsupportedAlgorithm("none")) { try Self.verify(WebToken.unsigned(Keys.claims())) }
  }

  static func google(_ changes: [(String, JSON?)], nonce: String? = nil) throws -> ForeignIdentity {
    let usual: [(String, JSON?)] = [("iss", "https://accounts.google.com"), ("aud", "client"), ("sub", "g1")]
    let claims = Keys.claims(usual.filter { name, _ in !changes.contains { $0.0 == name } } + changes)
    return try ForeignIdentity(
      try Keys.first.token(claims), from: .google(clientIDs: ["client", "client2"]),
      keys: KeySet([Keys.first.id: Keys.first.verificationKey]), nonce: nonce, at: Keys.now)
  }

  @Test("Sign in with Google: RS256, several audiences name the party, a nonce nobody knows is passed over")
  func google() throws {
    #expect(try Self.google([("nonce", "x"), ("email_verified", true), ("name", "Ann")]).isEmailVerified)
    #expect(throws: TokenError.wrongNonce) { try Self.google([("nonce", "x")], nonce: "x") }
    #expect(throws: TokenError.wrongNonce) { try Self.google([], nonce: "x") }
    #expect(throws: TokenError.wrongAudience("several")) { try Self.google([("aud", ["client", "evil"])]) }
    #expect(throws: TokenError.wrongAudience("nobody")) { try Self.google([("aud", nil)]) }
    #expect(throws: TokenError.self) { try Self.google([("sub", 5)]) }
    let identity = try Self.google([("iss", "accounts.google.com"), ("aud", ["client", "evil"]), ("azp", "client2")])
    #expect(identity.subject == "g1")
  }

  @Test("a Firebase project's own ID tokens, for a game that moves over")
  func firebase() throws {
    let keys = KeySet([Keys.first.id: Keys.first.verificationKey])
    let text = try Keys.first.token(Keys.claims())
    let identity = try ForeignIdentity(text, from: .firebase(project: "demo"), keys: keys, nonce: nil, at: Keys.now)
    #expect(identity.subject == "U28")
    #expect(throws: TokenError.self) {
      try ForeignIdentity(text, from: .firebase(project: "other"), keys: keys, nonce: nil, at: Keys.now)
    }
  }

  @Test("published keys are read as JWKS and as certificates; nonsense is not")
  func documents() throws {
    let certificates = JSONWriterText.of(["e1": .string(Self.certificate), "bad": "x", "odd": 5])
    let keys = try KeySet(document: Array(certificates.utf8))
    #expect(keys.count == 1)
    try WebToken(parsing: Self.apple).check(signature: try #require(keys.key(KeyID("e1"))))
    for bad in [
      "", "[]", "{}", #"{"keys":[]}"#, #"{"keys":[{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"}]}"#,
      #"{"keys":[{"kty":"EC","crv":"P-256","kid":"a","x":"AA","y":"AA"}]}"#,
      "{\"a\":\"" + String(repeating: "x", count: 300_000) + "\"}",
    ] {
      #expect(throws: TokenError.self) { try KeySet(document: Array(bad.utf8)) }
    }
    // A key that is no signature key, and one whose point is not on the curve.
    #expect(VerificationKey(jwk: ["kty": "RSA", "use": "enc", "n": "AQAB", "e": "AQAB"]) == nil)
    let zeros = JSON.string(String(repeating: "A", count: 43))
    #expect(VerificationKey(jwk: ["kty": "EC", "crv": "P-256", "x": zeros, "y": zeros]) == nil)
  }

  @Test("fetched keys are kept as long as their publisher says, within reason")
  func lifetimes() {
    let cases: [(String?, Int64)] = [
      (nil, 3_600_000), ("public, max-age=19302, must-revalidate", 19_302_000), ("max-age=1", 60_000), ("no-store", 60_000),
      ("MAX-AGE = 7200", 7_200_000), ("max-age=99999999999", 86_400_000), ("max-age=-5", 3_600_000), ("max-age=x", 3_600_000),
    ]
    for (header, expected) in cases { #expect(KeySetCache.lifetime(header) == expected, "\(header ?? "none")") }
  }

  @Test("unknown keys cause one fetch a minute, and old keys serve for a day while their publisher is down")
  func fetching() throws {
    let set = try KeySet(document: Array(Self.jwks.utf8))
    var cache = KeySetCache()
    #expect(cache.needsFetch(for: KeyID("e1"), at: 0) && cache.keys(at: 0) == nil)
    cache.begin(at: 0)
    #expect(!cache.needsFetch(for: KeyID("e1"), at: 1))
    cache.store(set, cacheControl: "max-age=7200", at: 1000)
    #expect(!cache.needsFetch(for: KeyID("e1"), at: 7_200_999))
    #expect(!cache.needsFetch(for: KeyID("made-up"), at: 60_999))
    #expect(cache.needsFetch(for: KeyID("made-up"), at: 61_000))
    #expect(cache.needsFetch(for: KeyID("e1"), at: 7_201_000))
    cache.begin(at: 7_201_000)
    #expect(!cache.needsFetch(for: KeyID("e1"), at: 7_202_000))
    #expect(cache.keys(at: 7_201_000 + 86_399_999) != nil && cache.keys(at: 7_201_000 + 86_400_000) == nil)
  }
}
