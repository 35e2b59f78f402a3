@testable import Credentials
import TestSupport
import Testing
import TreeModel

@Suite struct WebTokenTests {
  /// RFC 7515, appendices A.2 and A.3.
  static let published: [(token: String, jwk: JSON)] = [
    (
      "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
        + "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZ"
        + "cAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-e"
        + "OkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
      [
        "kty": "RSA", "e": "AQAB",
        "n": .string(
          "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMs"
            + "D1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdV"
            + "MTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"),
      ]
    ),
    (
      "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
        + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
      [
        "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
      ]
    ),
  ]

  @Test("the examples of RFC 7515 verify, and no longer with one bit of any byte changed")
  func examples() throws {
    for (text, jwk) in Self.published {
      let key = try #require(VerificationKey(jwk: jwk))
      let token = try WebToken(parsing: text)
      try token.check(signature: key)
      #expect(token.claims["http://example.com/is_root"] == true)
      var random = SplitMix64(seed: 7)
      for _ in 0..<60 {
        var bytes = Array(text.utf8)
        let at = Int.random(in: 0..<bytes.count, using: &random)
        // The last character of a part has bits that mean nothing.
        if at + 1 == bytes.count || bytes[at + 1] == UInt8(ascii: ".") || bytes[at] == UInt8(ascii: ".") { continue }
        bytes[at] = bytes[at] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        #expect(throws: TokenError.self) { try WebToken(parsing: String(decoding: bytes, as: UTF8.self)).check(signature: key) }
      }
    }
  }

  @Test("a key is for one algorithm: the header cannot talk it into another")
  func confusion() throws {
    let key = Keys.first.verificationKey
    // The public key as a shared secret, the classic.
    #expect(throws: TokenError.unsupportedAlgorithm("HS256")) {
      try WebToken(parsing: Keys.token(["alg": "HS256", "kid": .string(Keys.first.id.text)], Keys.claims()))
    }
    let elliptic = try WebToken(
      parsing: Keys.token(["alg": "ES256"], Keys.claims(), signature: [UInt8](repeating: 1, count: 64)))
    #expect(throws: TokenError.unsupportedAlgorithm("ES256")) { try elliptic.check(signature: key) }
    let unsigned = try WebToken(parsing: WebToken.unsigned(Keys.claims()))
    #expect(throws: TokenError.unsupportedAlgorithm("none")) { try unsigned.check(signature: key) }
    #expect(throws: TokenError.unsupportedAlgorithm("RS384")) { try WebToken(parsing: Keys.token(["alg": "RS384"], [:])) }
  }

  @Test(
    "what is no token is refused, and says why",
    arguments: [
      "", ".", "..", "...", "a.b.c", "e30.e30.", "e30.e30.AAAA", "eyJhbGciOiJub25lIn0.bm9wZQ.", "eyJhbGciOiJub25lIn0.W10.",
      "eyJhbGciOiJub25lIn0.e30", "eyJhbGciOiJub25lIn0.e30.e30.", "eyJhbGciOjV9.e30.", "!.!.!",
      String(repeating: "A", count: 20_000), String(repeating: ".", count: 20_000),
    ])
  func refused(_ text: String) {
    #expect {
      try WebToken(parsing: text)
    } throws: { error in
      if case .malformed(let why)? = error as? TokenError { !why.isEmpty } else { false }
    }
  }

  @Test("claims that are too deep, too long or said twice are refused, critical extensions too")
  func bounds() {
    let deep = (0..<20).reduce(JSON.int(1)) { value, _ in ["a": value] }
    let twice = JSON.object([JSON.Member(key: "sub", value: "a"), JSON.Member(key: "sub", value: "b")])
    let long: JSON = ["a": .string(String(repeating: "x", count: 20_000))]
    for claims in [deep, twice, long] {
      #expect(throws: TokenError.self) { try WebToken(parsing: WebToken.unsigned(claims)) }
    }
    #expect(throws: TokenError.self) { try WebToken(parsing: Keys.token(["alg": "none", "crit": ["b64"]], [:])) }
    // RS256 without a signature is none in disguise.
    #expect(throws: TokenError.badSignature) { try WebToken(parsing: Keys.token(["alg": "RS256"], [:], signature: [])) }
  }

  @Test(
    "times are judged to the second, with 60 seconds between the clocks of machines",
    arguments: [
      (1_799_999_939, 60, false), (1_799_999_940, 60, true), (1_800_000_000, 0, true), (1_800_003_599, 0, true),
      (1_800_003_600, 0, false), (1_800_003_659, 60, true), (1_800_003_660, 60, false),
    ] as [(Int64, Int64, Bool)])
  func times(_ second: Int64, _ skew: Int64, _ isValid: Bool) throws {
    let times = try TokenTimes(Keys.claims())
    let isAccepted = (try? times.check(at: second * 1000 + 999, skew: skew)) != nil
    #expect(isAccepted == isValid)
  }

  @Test("times that are missing, texts, negative or beyond the calendar are refused; nbf counts")
  func badTimes() throws {
    for value: JSON? in [nil, "1800000000", -1, 9e18, 1.5, .int(.max), .null] {
      for name in ["iat", "exp"] {
        #expect(throws: TokenError.self) { try TokenTimes(Keys.claims([(name, value)])) }
      }
    }
    let late = try TokenTimes(Keys.claims([("nbf", 1_800_000_100)]))
    #expect(throws: TokenError.notYetValid) { try late.check(at: Keys.now) }
    try late.check(at: Keys.now + 100_000)
  }
}
