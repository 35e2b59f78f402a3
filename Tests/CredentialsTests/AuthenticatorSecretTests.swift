@testable import Credentials
import TestSupport
import Testing

struct AuthenticatorSecretTests {
  private static let published = AuthenticatorSecret(bytes: Array("12345678901234567890".utf8))

  @Test(
    "Codes are those of RFC 6238, appendix B (its last six digits)",
    arguments: [
      (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
      (2_000_000_000, "279037"), (20_000_000_000, "353130"),
    ] as [(Int64, String)])
  func vectors(seconds: Int64, code: String) {
    #expect(Self.published.code(at: seconds / 30) == code)
    #expect(Self.published.step(of: code, at: seconds * 1000, adjacent: 0, after: -1) == seconds / 30)
  }

  @Test("A clock may be wrong by so many steps and no more; a step that was used, and those before it, are used up")
  func steps() {
    let secret = Self.published
    let now: Int64 = 1_111_111_111_000
    let step = now / 30_000
    #expect(secret.step(of: secret.code(at: step - 2), at: now, adjacent: 2, after: -1) == step - 2)
    #expect(secret.step(of: secret.code(at: step + 2), at: now, adjacent: 2, after: -1) == step + 2)
    #expect(secret.step(of: secret.code(at: step - 3), at: now, adjacent: 2, after: -1) == nil)
    #expect(secret.step(of: secret.code(at: step + 3), at: now, adjacent: 2, after: -1) == nil)
    #expect(secret.step(of: secret.code(at: step), at: now, adjacent: 2, after: step) == nil)
    #expect(secret.step(of: secret.code(at: step - 1), at: now, adjacent: 2, after: step) == nil)
    #expect(secret.step(of: secret.code(at: step + 1), at: now, adjacent: 2, after: step) == step + 1)
    for wrong in ["", "0", "00000", "0504711", "０５０４７１"] {
      #expect(secret.step(of: wrong, at: now, adjacent: 2, after: -1) == nil, "\(wrong)")
    }
  }

  @Test(
    "Base32 is RFC 4648's, section 10, without padding; what is no Base32 is none",
    arguments: [
      ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
      ("foobar", "MZXW6YTBOI"),
    ])
  func base32(plain: String, text: String) {
    #expect(Base32.encode(Array(plain.utf8)) == text)
    #expect(Base32.decode(text) == Array(plain.utf8))
    #expect(Base32.decode(text.lowercased() + "===") == Array(plain.utf8))
    #expect(Base32.decode(text + "1") == nil)
  }

  @Test("A new secret is 160 bits and is read back from its text; a short one is refused")
  func texts() {
    var random = SplitMix64(seed: 4)
    let secret = AuthenticatorSecret(using: &random)
    #expect(secret.bytes.count == 20)
    #expect(secret.text.utf8.count == 32)
    #expect(AuthenticatorSecret(text: secret.text) == secret)
    #expect(AuthenticatorSecret(using: &random) != secret)
    #expect(AuthenticatorSecret(text: "MZXW6YTBOI") == nil)
  }
}
