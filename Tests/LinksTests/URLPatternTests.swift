import TestSupport
import Testing

@testable import Links

@Suite struct URLPatternTests {
  @Test(
    "a pattern matches what RE2 would match",
    arguments: [
      ("^https://acme\\.test/", "https://acme.test/x", true), ("^https://acme\\.test/", "https://acmeXtest/x", false),
      ("^https://acme\\.test(/.*)?$", "https://acme.test", true), ("acme", "https://evil.test/acme", true),
      ("^(a|bc)*$", "abcbca", true), ("^(a|bc)*$", "abcb", false), ("a{2,3}", "caaat", true), ("^a{2,3}$", "aaaa", false),
      ("^a{0}b$", "b", true), ("^[a-c^-]+$", "ab^-c", true), ("^[^/]+$", "a/b", false), ("^\\d+\\.\\w*$", "12.ab_9", true),
      ("^x?y+?z*$", "yy", true), ("a{,3}", "a{,3}", true), ("^(?:ab|cd){2}$", "abcd", true), ("", "anything", true),
      ("^$", "", true), ("^$", "a", false), ("a$|^b", "xa", true), ("[]]", "]", true), ("^\\S\\D\\W$", "a-!", true),
      ("^.+\\?x=1$", "https://h?x=1", true), ("^(((((){1000}){1000}){1000}){1000}){1000}a$", "a", true),
      ("^((((a{0}){1000}){1000}){1000}){1000}$", "a", false),
    ])
  func matches(_ pattern: String, _ text: String, _ isMatch: Bool) throws {
    #expect(try URLPattern(pattern).matches(text) == isMatch)
  }

  @Test(
    "what cannot be matched in linear time, or at all, is refused",
    arguments: [
      "(", ")", "[a", "*a", "a**", "(?=a)", "(?!a)", "(?<n>a)", "(?i)a", "(a)\\1", "\\", "\\b", "\\pL", "[b-a]", "a{5,2}",
      "a{1001}", "((a{100}){100}){100}", String(repeating: "a", count: 501), String(repeating: "(", count: 60),
    ])
  func refused(_ pattern: String) {
    #expect(throws: URLPatternError.self) { try URLPattern(pattern) }
  }

  @Test("a pattern that ruins matchers that try again takes its time in the text's length")
  func linear() throws {
    let pattern = try URLPattern("^(a+)+$")
    #expect(!pattern.matches(String(repeating: "a", count: 20_000) + "b"))
  }

  @Test(
    "whether it can match at the beginning only",
    arguments: [("^a", true), ("a", false), ("^a|^b", true), ("^a|b", false), ("(^a)", true), ("(^a)?b", false)])
  func anchored(_ pattern: String, _ isAnchored: Bool) throws {
    #expect(try URLPattern(pattern).isAnchored == isAnchored)
  }

  @Test("random patterns agree with a matcher that tries every way")
  func model() throws {
    var random = SplitMix64(seed: 11)
    for _ in 0..<400 {
      let pattern = Self.randomPattern(3, using: &random)
      guard let compiled = try? URLPattern("^\(pattern.text)$") else { continue }
      for _ in 0..<8 {
        let text = String((0..<Int.random(in: 0...6, using: &random)).map { _ in Bool.random(using: &random) ? "a" : "b" })
        #expect(
          compiled.matches(text) == pattern.ends(in: Array(text), from: 0).contains(text.count), "\(pattern.text) on \(text)")
      }
    }
  }

  private static func randomPattern(_ depth: Int, using random: inout SplitMix64) -> NaivePattern {
    switch Int.random(in: 0...(depth == 0 ? 1 : 4), using: &random) {
    case 0: .letter("a")
    case 1: .letter("b")
    case 2: .both(randomPattern(depth - 1, using: &random), randomPattern(depth - 1, using: &random))
    case 3: .either(randomPattern(depth - 1, using: &random), randomPattern(depth - 1, using: &random))
    default: .many(randomPattern(depth - 1, using: &random))
    }
  }
}

/// A pattern that is matched by trying every way.
private indirect enum NaivePattern {
  case letter(Character)
  case both(NaivePattern, NaivePattern)
  case either(NaivePattern, NaivePattern)
  case many(NaivePattern)

  var text: String {
    switch self {
    case .letter(let letter): String(letter)
    case .both(let a, let b): a.text + b.text
    case .either(let a, let b): "(\(a.text)|\(b.text))"
    case .many(let a): "(\(a.text))*"
    }
  }

  /// Where a match from `start` may end.
  func ends(in text: [Character], from start: Int) -> Set<Int> {
    switch self {
    case .letter(let letter): return start < text.count && text[start] == letter ? [start + 1] : []
    case .both(let a, let b):
      return a.ends(in: text, from: start).reduce(into: []) { $0.formUnion(b.ends(in: text, from: $1)) }
    case .either(let a, let b): return a.ends(in: text, from: start).union(b.ends(in: text, from: start))
    case .many(let a):
      var all: Set<Int> = [start]
      var open = [start]
      while let next = open.popLast() {
        for end in a.ends(in: text, from: next) where all.insert(end).inserted { open.append(end) }
      }
      return all
    }
  }
}
