@testable import Credentials
import TestSupport
import Testing
import TextFormats
import TreeModel

@Suite struct KeyRingTests {
  static let ring = KeyRing([
    KeyRing.Entry(key: Keys.second, signsFrom: 5000), KeyRing.Entry(key: Keys.first, signsFrom: 1000),
  ])

  @Test("the key signs whose time came last; before all times the first")
  func signing() {
    let expected: [(Int64, SigningKey)] = [(0, Keys.first), (1000, Keys.first), (4999, Keys.first), (5000, Keys.second)]
    for (now, key) in expected { #expect(Self.ring.signingKey(at: now) === key) }
  }

  @Test("the next key is published two hours before it signs, and stays 15 days after it signed")
  func rotation() {
    let ring = Keys.ring()
    let due = KeyRing.period - KeyRing.lead
    #expect(ring.nextStart(at: due - 1) == nil)
    #expect(ring.nextStart(at: due) == KeyRing.period)
    // A server that was off for a year still publishes first.
    #expect(ring.nextStart(at: 10 * KeyRing.period) == 10 * KeyRing.period + KeyRing.lead)
    let two = ring.adding(Keys.second, from: KeyRing.period)
    #expect(two.signingKey(at: due) === Keys.first)
    #expect(two.signingKey(at: KeyRing.period) === Keys.second)
    #expect(two.nextStart(at: KeyRing.period) == nil)
    #expect(two.outlived(at: KeyRing.period + KeyRing.retention) == [])
    #expect(two.outlived(at: KeyRing.period + KeyRing.retention + 1) == [Keys.first.id])
    #expect(two.removing([Keys.first.id, Keys.second.id]).entries.map(\.key.id) == [Keys.second.id])
    #expect(KeyRing.retention / 1000 > IDTokenIssuer.cookieLifetimes.upperBound)
    #expect(KeyRing.lead / 1000 > KeyRing.cacheSeconds)
  }

  @Test("a key goes into a file and comes back; the file says what it is")
  func files() throws {
    let entry = KeyRing.Entry(key: Keys.first, signsFrom: 42)
    let text = KeyFile.text(of: entry)
    let back = try KeyFile.entry(in: text)
    #expect(back.signsFrom == 42)
    #expect(back.key.id == Keys.first.id)
    #expect(back.key.pem == Keys.first.pem)
    #expect(text.contains("Secret"))
    #expect(KeyFile.name(of: entry.key.id).hasSuffix(".key.pem"))
    let pem = Keys.first.pem
    for bad in [
      "", "signs-from: 1\n", pem, "signs-from: x\n" + pem, "signs-from: -1\n" + pem, String(repeating: "a", count: 20_000),
    ] {
      #expect(throws: TokenError.self) { try KeyFile.entry(in: bad) }
    }
  }

  @Test("what is published as JWKS and as certificates verifies what the ring signs, and holds no secret")
  func published() throws {
    let published = try CurrentKeys(Self.ring).published()
    for document in [published.jwks, published.certificates] {
      let keys = try KeySet(document: document)
      #expect(keys.count == 2)
      for key in [Keys.first, Keys.second] {
        let token = try WebToken(parsing: try key.token(Keys.claims()))
        #expect(token.keyID == key.id)
        try token.check(signature: try #require(keys.key(token.keyID)))
      }
      #expect(!String(decoding: document, as: UTF8.self).contains("PRIVATE"))
    }
    #expect(Self.ring.jwks["keys"]?.array?.allSatisfy { $0["d"] == nil && $0["use"] == "sig" } == true)
  }

  @Test("a token of a key that is not on the ring, or says it is of another, is refused")
  func foreign() throws {
    let ring = Keys.ring()
    let other = try WebToken(parsing: try Keys.second.token(Keys.claims()))
    #expect(throws: TokenError.unknownKey(Keys.second.id)) { try ring.check(other) }
    let signature = try Keys.second.sign(
      WebToken.signedBytes(header: ["alg": "RS256", "kid": .string(Keys.first.id.text)], claims: Keys.claims()))
    let posing = try WebToken(
      parsing: Keys.token(["alg": "RS256", "kid": .string(Keys.first.id.text)], Keys.claims(), signature: signature))
    #expect(throws: TokenError.badSignature) { try ring.check(posing) }
    let nameless = try WebToken(parsing: Keys.token(["alg": "RS256"], Keys.claims()))
    #expect(throws: TokenError.unknownKey(nil)) { try ring.check(nameless) }
  }

  @Test("keys that are made when needed are made once, and what is published follows the ring")
  func whenNeeded() throws {
    let keys = CurrentKeys { Keys.ring() }
    #expect(!keys.areMade)
    #expect(try keys.published().jwks == JSONWriterText.of(Keys.ring().jwks).utf8.map(\.self))
    #expect(keys.areMade && keys.ring.entries[0].key === Keys.first)
    keys.replace(with: Self.ring)
    #expect(try KeySet(document: try keys.published().certificates).count == 2)
  }

  @Test("a new key has 2048 bits and a name of its own")
  func generated() throws {
    let key = try SigningKey.generate()
    #expect(key.id.text.utf8.count == 40)
    #expect(key.id != Keys.first.id)
    try WebToken(parsing: try key.token([:])).check(signature: try VerificationKey(pem: key.verificationKey.pem))
  }

  @Test(
    "the calendar of certificates",
    arguments: [
      (0, "1970-1-1 0:0:0"), (951_782_399_000, "2000-2-28 23:59:59"), (951_782_400_000, "2000-2-29 0:0:0"),
      (4_107_542_399_000, "2100-2-28 23:59:59"), (4_107_542_400_000, "2100-3-1 0:0:0"),
      (1_798_761_599_999, "2026-12-31 23:59:59"),
    ] as [(Int64, String)])
  func calendar(_ milliseconds: Int64, _ text: String) {
    let t = CalendarTime(milliseconds: milliseconds)
    #expect("\(t.year)-\(t.month)-\(t.day) \(t.hour):\(t.minute):\(t.second)" == text)
  }
}
