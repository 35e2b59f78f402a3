import AccessRules
import Testing
import TreeModel

@Suite("Regular expressions of rules")
struct RegexTests {
  static let rows: [(String, String, Bool)] = [
    ("a", "bab", true), ("^a", "ba", false), ("a$", "ab", false), ("^$", "", true), ("^$", "a", false), ("^ab?c$", "ac", true),
    ("^a|b$", "ax", true), ("^a|b$", "xb", true), ("^a|b$", "xa", false), ("^(a|b)+$", "abba", true),
    ("^(a|b)+$", "abca", false),
    ("^a*$", "", true), ("^a{2}$", "aa", true), ("^a{2}$", "aaa", false), ("^a{2,}$", "aaaa", true),
    ("^a{1,3}$", "aaaa", false),
    ("^(ab){2,3}c$", "abababc", true), ("^.$", "😀", true), ("^.$", "\n", false), ("^[a-c\\d]+$", "a1c", true),
    ("^[^a-c]+$", "xyz", true), ("^[^a-c]+$", "xbz", false), ("^[\\w-]+$", "a-b_9", true), ("^[\\]\\\\]+$", "]\\", true),
    ("^\\s\\S$", " x", true), ("^\\D\\W$", "a-", true), ("\\.", "ab", false), ("^\\x41\\u00e9\\t$", "Aé\t", true),
    ("^{a}$", "{a}", false),
    ("{a}", "{a}", true), ("(?:x)", "?:x", true), ("(?:x)", "x", false), ("*a", "*a", true), ("^(+a)$", "+a", true),
    ("^a*?$", "aaa", true),
    ("^[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,}$", "bob@example.com", true),
    ("^[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,}$", "bob@example", false),
    ("^(19|20)\\d\\d-(0[1-9]|1[012])-([012]\\d|3[01])$", "2026-11-22", true), ("}", "}", true), ("a,b", "a,b", true),
    ("é", "e\u{301}", false), ("^[\\w-\\.]+$", "a-b.c", true), ("^[\\d-x]+$", "1-x", true), ("^[\\d-x]+$", "e", false),
    ("^[a-\\d]+$", "a-1", true), ("^[a-\\d]+$", "b", false),
  ]

  private static func matches(_ pattern: String, _ text: String, flags: String = "") throws -> Bool {
    var writer = JSONWriter()
    writer.write(["rules": [".read": .string("auth.t.matches(/\(pattern)/\(flags))")]])
    let rules = try RuleSet(parsing: String(decoding: writer.bytes, as: UTF8.self))
    return try RuleEvaluator(rules, auth: ["t": .string(text)], now: 0, tree: NodeTree(.absent)).mayRead(.root)
  }

  @Test("A text matches or not", arguments: rows)
  func match(_ pattern: String, _ text: String, _ matches: Bool) throws {
    if pattern.hasPrefix("^{") {
      #expect(throws: RulesError.self) { try Self.matches(pattern, text) }
      return
    }
    #expect(try Self.matches(pattern, text) == matches)
  }

  @Test("With the flag i both cases match, in sets and their inversions too")
  func cases() throws {
    #expect(try Self.matches("^straße [a-f]+$", "STRAßE ABC", flags: "i"))
    #expect(try Self.matches("^[^a]$", "A", flags: "i") == false)
    #expect(try Self.matches("^ÄÖ$", "äö", flags: "i") && !Self.matches("^ÄÖ$", "äö"))
  }

  @Test(
    "What makes other engines run for ever takes a moment",
    arguments: [
      ("^(a+)+$", "a"), ("^(a|a)*$", "a"), ("^(a|aa)+$", "a"), ("^(.*)*x$", "a"), ("(a*)*b", "a"),
      ("^(([a-z])+.)+[A-Z]([a-z])+$", "a"),
      ("(x+x+)+y", "x"), ("^(a?){500}a{500}$", "a"), ("(a|b|ab)*c", "ab"), ("^((a{0,30}){0,30})$", "a"),
      ("^((((b{0}){1000}){1000}){1000}){1000}a+$", "a"),
    ])
  func linear(_ pattern: String, _ letter: String) throws {
    let clock = ContinuousClock()
    let took = try clock.measure { _ = try Self.matches(pattern, String(repeating: letter, count: 600) + "!") }
    #expect(took < .seconds(60))
  }

  @Test("Every way of walking a program agrees with trying all ways, on random expressions")
  func model() throws {
    var random = RandomRegex(seed: 7)
    for _ in 0..<100 {
      let regex = random.regex(depth: 3)
      for _ in 0..<6 {
        let text = random.text()
        let expected = regex.matches(text)
        #expect(try Self.matches(regex.text, text) == expected, "/\(regex.text)/ on \(text)")
      }
    }
  }
}
