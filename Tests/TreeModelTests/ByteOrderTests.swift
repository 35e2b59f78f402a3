import TestSupport
import Testing
import TreeModel

@Suite struct ByteOrderTests {
  private static func bytes(_ source: inout SplitMix64, _ letters: [UInt8]) -> [UInt8] {
    (0..<Int.random(in: 0...6, using: &source)).map { _ in letters.randomElement(using: &source) ?? 0 }
  }

  @Test("comparing memory says what comparing byte by byte says")
  func naive() {
    var source = SplitMix64(seed: 61)
    for _ in 0..<3_000 {
      let a = Self.bytes(&source, [0, 1, 0x7F, 0x80, 0xFF])
      let b = Self.bytes(&source, [0, 1, 0x7F, 0x80, 0xFF])
      a.withUnsafeBytes { x in
        b.withUnsafeBytes { y in
          #expect(x.precedes(y) == a.lexicographicallyPrecedes(b))
          #expect(x.isSame(as: y) == (a == b))
          #expect(x.begins(with: y) == a.starts(with: b))
        }
      }
      #expect(a.precedes(b) == a.lexicographicallyPrecedes(b))
    }
  }

  @Test("a word is found wherever it stands")
  func words() {
    for (text, isThere) in [
      ("", false), ("unlimited", true), ("?a=unlimited&b", true), ("ununlimited", true), ("unlimite", false),
    ] {
      #expect(Array(text.utf8).withUnsafeBytes { $0.contains("unlimited") } == isThere, "\(text)")
    }
  }

  @Test("bytes are a text exactly if they are UTF-8")
  func texts() {
    var source = SplitMix64(seed: 62)
    // Whole and broken sequences: é, €, 😀 in parts, a lone surrogate's, an overlong slash.
    let letters: [UInt8] = [
      0x41, 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x98, 0x80, 0xED, 0xA0, 0xC0, 0xAF, 0xEF, 0xBF, 0xBD,
    ]
    for _ in 0..<5_000 {
      let bytes = Self.bytes(&source, letters)
      let expected = String(validating: bytes, as: UTF8.self)
      let found = bytes.withUnsafeBytes { String(utf8: $0) }
      #expect(found.map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "\(bytes)")
    }
  }

  @Test("a plain key is the key that its text is")
  func plainKeys() throws {
    var source = SplitMix64(seed: 63)
    let letters = Array("abZ09-_ ~!%./$#[]".utf8) + [0x00, 0x1F, 0x7F, 0xC3, 0xA9]
    for _ in 0..<3_000 {
      let bytes = Self.bytes(&source, letters)
      // Exactly the keys of ASCII that no percent sign may stand for something else in.
      let isPlain = bytes.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "%") }
      let expected = isPlain ? try? Key(String(decoding: bytes, as: UTF8.self)) : nil
      #expect(bytes.withUnsafeBytes { Key(plain: $0) } == expected, "\(bytes)")
    }
    for text in ["a", "-3", "Z_9 ~!"] { #expect(Array(text.utf8).withUnsafeBytes { Key(plain: $0) }?.text == text) }
    for text in ["", "a%20b", "é", "a.b", ".priority", String(repeating: "a", count: 769)] {
      #expect(Array(text.utf8).withUnsafeBytes { Key(plain: $0) } == nil, "\(text)")
    }
  }
}
