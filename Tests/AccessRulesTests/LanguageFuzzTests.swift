import AccessRules
import TestSupport
import Testing
import TreeModel

@Suite("Hostile rules")
struct LanguageFuzzTests {
  private static let pieces = [
    "auth", "auth.uid", "now", "root", "data", "newData", "query", "$k", "$x", ".val()", ".exists()", ".child('a')", ".child(",
    ".parent()",
    ".hasChildren(['a'])", ".length", ".matches(/a+/i)", ".matches(/", ".replace('a','b')", "(", ")", "[", "]", "'", "\\\"",
    "'a'", "1", "0.5",
    "1e9", "&&", "||", "!", "==", "===", "!=", "<", ">=", "+", "-", "*", "/", "%", "?", ":", ",", ".", " ", "true", "false",
    "null", "é", "😀",
    "\\\\", "{", "}", "=", ";", "**",
  ]

  private static func judge(_ expression: String) throws(RulesError) {
    let source = "{\"rules\": {\"$k\": {\".read\": \"\(expression)\", \".write\": \"\(expression)\"}}}"
    let rules = try RuleSet(parsing: source)
    let judge = RuleEvaluator(rules, auth: ["uid": "bob"], now: 0, tree: NodeTree(["a": "x"], ["a": "y"]))
    _ = try? judge.mayRead("a")
    _ = try? judge.mayWrite([RuleWrite(path: "a", value: .node("y"))])
    _ = try? judge.explainRead("a").text
  }

  @Test("Whatever stands in an expression, the answer is a verdict or a fault at a place of the file")
  func soup() {
    var random = SplitMix64(seed: 11)
    var accepted = 0
    for _ in 0..<1200 {
      let count = Int.random(in: 1...12, using: &random)
      let text = (0..<count).map { _ in Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &random)] }.joined()
      do throws(RulesError) {
        try Self.judge(text)
        accepted += 1
      } catch {
        #expect(error.line == 1 && error.column > 0 && !error.message.isEmpty, "\(text): \(error)")
      }
    }
    #expect(accepted > 3)
  }

  @Test("Deep, long and wide expressions are refused or judged, in little time")
  func size() {
    let clock = ContinuousClock()
    let took = clock.measure {
      for count in [50, 127, 2000] {
        for text in [
          String(repeating: "(", count: count) + "true" + String(repeating: ")", count: count),
          String(repeating: "!", count: count) + "true",
          String(repeating: "true?", count: count) + "true" + String(repeating: ":true", count: count),
          "root" + String(repeating: ".child('a')", count: count) + ".exists()",
          "auth" + String(repeating: "[auth", count: count) + String(repeating: "]", count: count) + "==1",
          (0..<count).map { "\($0)" }.joined(separator: "+") + " == 1",
          (0..<count).map { "\($0)" }.joined(separator: "-") + " == 1",
          Array(repeating: "true", count: count).joined(separator: "&&"),
          "root.hasChildren([" + Array(repeating: "'a'", count: count).joined(separator: ",") + "])",
          "'\(String(repeating: "a", count: count))'.matches(/\(String(repeating: "(a*", count: count))\(String(repeating: ")*", count: count))$/)",
          "'a'.matches(/\((0..<count).map { "a\($0)" }.joined(separator: "|"))/)",
          "'a'.matches(/[\(String(repeating: "a-z", count: count))]/)",
        ] {
          try? Self.judge(text)
        }
      }
    }
    #expect(took < .seconds(100))
  }

  @Test("A chain of thousands of conditions is one rule, and is judged to its end")
  func chain() throws {
    let text = Array(repeating: "$k == 'b'", count: 3000).joined(separator: " || ") + " || $k == 'a'"
    let rules = try RuleSet(parsing: "{\"rules\": {\"$k\": {\".read\": \"\(text)\"}}}")
    let judge = RuleEvaluator(rules, auth: nil, now: 0, tree: NodeTree(.absent))
    #expect(try judge.mayRead("a") && !judge.mayRead("c"))
  }
}
