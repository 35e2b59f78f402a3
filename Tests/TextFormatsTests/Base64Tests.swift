import Testing
import TestSupport
import TextFormats

@Suite struct Base64Tests {
  @Test(
    "the vectors of RFC 4648 are encoded and decoded",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func vectors(_ plain: String, _ text: String) {
    #expect(Base64.encode(plain.utf8, as: .standard) == text)
    #expect(Base64.decode(text.utf8) == Array(plain.utf8))
  }

  @Test("whatever is encoded in either alphabet comes back, with 62 and 63 in the alphabet's own characters")
  func roundTrip() {
    var random = SplitMix64(seed: 4648)
    for length in 0..<200 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      let url = Base64.encode(bytes, as: .url)
      let standard = Base64.encode(bytes, as: .standard)
      #expect(Base64.decode(url.utf8) == bytes)
      #expect(Base64.decode(standard.utf8) == bytes)
      #expect(!url.contains { "+/=".contains($0) })
      #expect(!standard.contains { "-_".contains($0) })
    }
    #expect(Base64.decode("Zm9v!".utf8) == nil)
  }
}
