import AccessRules
import TestSupport
import Testing
import TreeModel

@Suite("Rules files")
struct RuleSetTests {
  static let game = """
    // The game's rules
    {
      "rules": {
        ".read": "auth != null", /* everybody who is somebody */
        "users": {
          ".indexOn": ["level", "name/last", ".value"],
          "$uid": {
            ".write": "$uid === auth.uid
              && newData.exists()",
            "items": { ".indexOn": "price" },
            ".validate": true
          },
          "bob": { ".write": false }
        },
        "scores": { ".indexOn": [".value", ".priority", ".key"] }
      }
    }
    """

  @Test("A file with comments and strings over several lines is read")
  func file() throws {
    let rules = try RuleSet(parsing: Self.game)
    #expect(rules.root.read?.text == "auth != null")
    #expect(rules.root.read?.line == 4)
    #expect(rules.root.read?.column == 14)
    let user = try #require(rules.node(at: "users/alice"))
    #expect(user.write?.text == "$uid === auth.uid\n          && newData.exists()")
    #expect(user.validate?.text == "true")
    #expect(user.pattern.description == "/users/$uid")
    #expect(user.pattern.shape == "/users/$")
  }

  @Test("A named child wins over the variable, and hides what the variable says")
  func literalWins() throws {
    let rules = try RuleSet(parsing: Self.game)
    #expect(rules.node(at: "users/bob")?.write?.text == "false")
    #expect(rules.node(at: "users/bob/items") == nil)
    #expect(rules.node(at: "users/alice/items")?.indexOn == [.child("price")])
  }

  @Test("Every index is found with the pattern of its parents")
  func indexes() throws {
    let found = try RuleSet(parsing: Self.game).indexes.map { "\($0.pattern) \($0.order.indexName)" }
    #expect(
      Set(found) == [
        "/users level", "/users name/last", "/users .value", "/users/$uid/items price", "/scores .value", "/scores .priority",
      ])
    #expect(found.count == 6)
  }

  @Test("The strict form is JSON without comments")
  func strict() throws {
    let source =
      "{/*x*/\"rules\":{\".read\":\"'a'\n\\u003d='\\ud83d\\ude00\\\\\\\\'\", \".write\":false,"
      + " \"k\":{\".indexOn\":[\"a\"]}}}"
    let strict = try RuleSet(parsing: source).strict
    var writer = JSONWriter()
    writer.write(strict)
    let text = String(decoding: writer.bytes, as: UTF8.self)
    #expect(text == "{\"rules\":{\".read\":\"'a'\\n=='😀\\\\\\\\'\",\".write\":false,\"k\":{\".indexOn\":[\"a\"]}}}")
    #expect(try JSONParser.parse(text) == strict)
  }

  @Test("A comma behind the last member, as Firebase's own guides have it, is no fault")
  func trailingCommas() throws {
    let rules = try RuleSet(parsing: #"{"rules": {".read": true, "a": {".indexOn": ["x", "y",],}, // the end"# + "\n},}")
    let plain = try RuleSet(parsing: #"{"rules": {".read": true, "a": {".indexOn": ["x", "y"]}}}"#)
    #expect(rules.strict == plain.strict)
  }

  @Test(
    "What is no rules file is refused with line and column (check 77)",
    arguments: [
      ("", "1:1"), ("[]", "1:1"), ("{}", "1:1"), ("{\"rules\":{}} x", "1:14"), ("{\"rules\":{}", "1:12"),
      ("{\"rules\":5}", "1:10"), ("{\"rules\":{},\"other\":{}}", "1:13"), ("{\"rules\":{},\"rules\":{}}", "1:13"),
      ("{\"rules\":{\".read\":7}}", "1:19"), ("{\"rules\":{\".read\":null}}", "1:19"),
      ("{\"rules\":{\n  \".wirte\":true}}", "2:3"),
      ("{\"rules\":{\"a\":true}}", "1:15"), ("{\"rules\":{\"a.b\":{}}}", "1:11"), ("{\"rules\":{\"a/b\":{}}}", "1:11"),
      ("{\"rules\":{\"\":{}}}", "1:11"), ("{\"rules\":{\"$\":{}}}", "1:11"), ("{\"rules\":{\"$a-b\":{}}}", "1:11"),
      ("{\"rules\":{\"$a\":{},\"$b\":{}}}", "1:19"), ("{\"rules\":{\"$a\":{\"b\":{\"$a\":{}}}}}", "1:22"),
      ("{\"rules\":{\"a\":{},\"a\":{}}}", "1:18"), ("{\"rules\":{\".indexOn\":{}}}", "1:22"),
      ("{\"rules\":{\".indexOn\":[5]}}", "1:22"), ("{\"rules\":{\".indexOn\":\"a.b\"}}", "1:22"),
      ("{\"rules\":{\".indexOn\":[\"a\",\"\"]}}", "1:27"), ("{\"rules\":{ /* }", "1:12"),
      ("{\"rules\":{\".read\":\"x}}", "1:19"),
      ("{\"rules\":{\".read\":\"\\x\"}}", "1:20"), ("{\"rules\":{\".read\":\"\\ud800\"}}", "1:20"),
      ("{\"rules\":{\"a\" {}}}", "1:15"),
      ("{\"rules\":{\"é😀\":{} x}}", "1:19"), ("{\"rules\":{},,}", "1:13"), ("{,}", "1:2"), ("{rules:{}}", "1:2"),
      ("{\"rules\":{/ }}", "1:11"),
      ("{\r\n\"rules\"\r:{\n\".read\":tru}}", "4:9"),
    ])
  func refused(source: String, place: String) throws {
    let error = try #require(throws: RulesError.self) { try RuleSet(parsing: source) }
    #expect(error.description.hasPrefix(place + ": "), "\(error)")
    #expect(!error.message.isEmpty)
  }

  static let faulty = """
    {"rules": {
      ".read": "auth.uid === ", ".read": true,
      ".wirte": true,
      "a": {
        ".write": "é === 1 && nobody",
        "b": 5, "c.d": {},
        "$x": {".indexOn": {}}, "$y": {}
      },
      "e": {".validate": "newData.val(",
        "f": {".read": 1}}
    }}
    """

  @Test("Every fault of a file is told, of structure and of expressions, each with its place, in the order of the file")
  func allFaults() throws {
    let error = try #require(throws: RulesError.self) { try RuleSet(parsing: Self.faulty) }
    let places = ([error] + error.others).map { "\($0.line):\($0.column)" }
    #expect(places == ["2:26", "2:29", "3:3", "5:16", "6:10", "6:13", "7:24", "7:29", "9:35", "10:20"], "\(error)")
    #expect(error.description.split(separator: "\n").count == places.count)
    // Of rules that were taken once an expression may be unknown, but not the structure.
    #expect(throws: RulesError.self) { try RuleSet(stored: Self.faulty) }
    #expect(try RuleSet(stored: "{\"rules\":{\".read\":\"nobody\"}}").root.read != nil)
  }

  @Test("Of very many faults the first hundred are told")
  func manyFaults() throws {
    let children = (0..<5000).map { "\"k\($0)\":{\".read\":\"x\",\".wirte\":1}" }.joined(separator: ",")
    let error = try #require(throws: RulesError.self) { try RuleSet(parsing: "{\"rules\":{\(children)}}") }
    #expect(error.others.count == 99)
  }

  @Test("Nesting and size have bounds")
  func bounds() {
    let deep = String(repeating: "{\"a\":", count: 100_000)
    #expect(throws: RulesError.self) { try RuleSet(parsing: "{\"rules\":" + deep) }
    let levels = (0..<33).reduce("{}") { inner, _ in "{\"k\":\(inner)}" }
    #expect(throws: RulesError.self) { try RuleSet(parsing: "{\"rules\":\(levels)}") }
    let legal = (0..<32).reduce("{}") { inner, _ in "{\"k\":\(inner)}" }
    #expect(throws: Never.self) { try RuleSet(parsing: "{\"rules\":\(legal)}") }
    let long = String(repeating: "x", count: RuleSet.bytesMax)
    #expect(throws: RulesError.self) { try RuleSet(parsing: "{\"rules\":{\".read\":\"\(long)\"}}") }
  }

  @Test("A large file on one line is read in one walk")
  func large() throws {
    let children = (0..<5000).map { "\"k\($0)\":{\".read\":true}" }.joined(separator: ",")
    let rules = try RuleSet(parsing: "{\"rules\":{\(children)}}")
    #expect(rules.root.children.count == 5000)
  }

  @Test("Whatever the bytes are, the answer is rules or a fault with a place in the file")
  func mutations() {
    var random = SplitMix64(seed: 20)
    let pieces = Array("{}[]\"\\/*,:$.#\n\r\t u0d8é😀truefalsnl.read$a".unicodeScalars)
    let source = Array(Self.game.unicodeScalars)
    for _ in 0..<700 {
      var text = source
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let at = Int.random(in: 0..<text.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: text.remove(at: at)
        case 1: text[at] = pieces[Int.random(in: 0..<pieces.count, using: &random)]
        default: text.insert(pieces[Int.random(in: 0..<pieces.count, using: &random)], at: at)
        }
      }
      let mutated = String(String.UnicodeScalarView(text))
      let lines = mutated.unicodeScalars.count { $0 == "\n" || $0 == "\r" } + 1
      do throws(RulesError) {
        let rules = try RuleSet(parsing: mutated)
        // What was read can be written and read again.
        var writer = JSONWriter()
        writer.write(rules.strict)
        let again = try RuleSet(parsing: String(decoding: writer.bytes, as: UTF8.self))
        #expect(again.strict == rules.strict)
      } catch {
        #expect((1...lines).contains(error.line) && error.column >= 1 && !error.message.isEmpty, "\(error)")
      }
    }
  }
}
