import AccessRules
import Testing
import TreeModel

/// What expressions are worth, beyond the hosted service's own rows.
@Suite("The language of rules")
struct LanguageTests {
  /// A row: an expression, and whether it is true; nil if evaluating it fails, which makes the rule false.
  struct Row: Sendable, CustomTestStringConvertible {
    let expression: String
    let value: Bool?

    init(_ expression: String, _ value: Bool?) {
      self.expression = expression
      self.value = value
    }

    var testDescription: String { expression }
  }

  private static let tree: TreeNode = [
    "n": 5, "d": 2.5, "s": "Jörg 😀", "t": true, "e": "e\u{301}", "é": 1, "big": 9_007_199_254_740_993,
    "map": ["a": 1, "b": ["c": "x"]], "01": "list", "p": .leaf(1, priority: "high"),
  ]
  private static let auth: JSON = [
    "uid": "bob", "token": ["list": ["x", "y"], "length": 3, "nested": ["a": nil], "n": 1.0, "contains": 7], "empty": "",
  ]

  static let rows: [Row] = [
    // Operators bind as in JavaScript.
    Row("1 + 2 * 3 == 7 && 10 - 4 - 3 == 3 && 8 / 2 / 2 == 2 && 7 % 4 * 2 == 6", true),
    Row("false && false || true", true), Row("!true == false", true), Row("true ? false : true ? true : true", false),
    Row("1 < 2 == true", true), Row("-2 + 3 == 1 && - -2 == 2 && 1 - -1 == 2", true), Row("(1 + 2) * 3 === 9", true),
    Row("1 + 2 + 'x' == '3x' && 'x' + 1 + 2 == 'x12' && 'x' + (1 + 2) == 'x3'", true),
    // Numbers: whole ones are exact, all are one kind.
    Row("root.child('big').val() == 9007199254740993", true), Row("root.child('big').val() == 9007199254740992", false),
    Row("9223372036854775807 + 1 == 9223372036854775808", true), Row("9223372036854775807 < 9223372036854775808", true),
    Row("1 == 1.0 && 1e3 == 1000 && .5 == 0.5 && 5. == 5", true), Row("5 / 2 == 2.5 && 4 / 2 == 2 && -7 % 3 == -1", true),
    Row("0.5 + '' == '0.5' && 1e21 + '' == '1e+21' && 1e-7 + '' == '1e-7' && 100 + '' == '100'", true),
    Row("1/0 == 1/0", false), Row("1/0 != 1/0 && !(1/0 > 1) && !(1/0 <= 1) && 1 % 0 != 0", true),
    Row("-0 == 0 && 0 / 5 + '' == '0'", true), Row("1e308 * 10 > 1e308 && 1e308 * 10 + '' == 'Infinity'", true),
    // Equality is strict, and other kinds are simply not equal.
    Row("1 == '1' || 0 == false || null == false || '' == null", false), Row("null == null && null != 1", true),
    Row("root.child('e').val() == 'é'", false), Row("root.child('é').exists() && !root.child('e\\u0301').exists()", true),
    Row("'a' < 'b' && 'a' < 'ab' && 'B' < 'a' && '10' < '9' && 'z' < 'é'", true),
    Row("'\\uFFFD' > '\\uD83D\\uDE00'", true), Row("auth.none <= 1", nil),
    // Short circuits come before errors; an error takes the whole rule.
    Row("false && auth.none.length > 1", false), Row("true || auth.none.length > 1", true),
    Row("auth.none.length > 1 || true", nil), Row("true ? true : auth.none.length > 1", true), Row("auth.uid && true", nil),
    Row("!auth.uid", nil), Row("auth.none ? true : true", nil),
    // auth: any member, whatever is missing is null.
    Row("auth.token.list[1] == 'y' && auth.token.list['0'] == 'x' && auth.token.list[2] == null", true),
    Row("auth.token.nested.a == null && auth.token.nested != null && auth.no.such.thing == null", true),
    Row("auth['uid'].length == 3 && auth.token.length == 3 && auth.token.contains == 7", true),
    Row("auth.uid.uid == null && auth.token.n == 1 && auth.token.list.length == null", true),
    Row("auth.token[auth.token] == 1", nil),
    Row("auth.token == auth.token", false), Row("auth.token.list[auth.token.n] == 'y'", true),
    // Snapshots.
    Row("data.exists() == false", false), Row("root.child('map').val() != null && root.child('map').val() != 1", true),
    Row("root.child('map').hasChildren() && !root.child('n').hasChildren() && !root.child('none').hasChildren()", true),
    Row("root.hasChildren(['n', 'map/b']) && !root.hasChildren(['n', 'none'])", true),
    Row("root.hasChildren(['n', auth.no])", nil),
    Row("root.child('map').child('b/c').parent().parent().child('a').val() === 1", true),
    Row("root.child('/map//b/').child('c').val() == 'x' && root.child('map/b/c/d').val() == null", true),
    Row("root.child('').exists() || root.child('a.b').exists() || root.child('a.b').parent().exists()", false),
    Row("root.child('n').isNumber() && root.child('s').isString() && root.child('t').isBoolean() && !root.isString()", true),
    Row("root.child('p').getPriority() == 'high' && root.child('n').getPriority() == null", true),
    Row("root.child('n').val() + root.child('d').val() == 7.5", true), Row("root.child('map').val() + 1 == 2", nil),
    Row("root.child('map').val() > 1", nil), Row("root.child('none').val().length == 0", nil),
    Row("data.parent().exists()", nil),
    // Strings: all by code units, bytes and not by what looks alike.
    Row("root.child('s').val().length == 7 && 'é'.length == 1 && ''.length == 0", true),
    Row("'a.b.c'.replace('.', '-') == 'a-b-c' && 'aaa'.replace('aa', 'b') == 'ba' && 'abc'.replace('', 'x') == 'abc'", true),
    Row("'banana'.endsWith('ana') && 'banana'.beginsWith('ban') && !'ban'.beginsWith('bana') && 'x'.contains('')", true),
    Row("'e\\u0301'.contains('e') && !'é'.contains('e') && 'ababac'.contains('abac')", true),
    Row("'ÄÖ'.toLowerCase() == 'äö' && 'straße'.toUpperCase() == 'STRASSE'", true),
    Row("\"it's\" + 'a \"b\"' == 'it\\'sa \"b\"' && '\\x41\\u0042\\n'.length == 3", true),
    // Time, and the query.
    Row("now == 1700000000000 && now - 1000 < now", true), Row("query.orderByKey && query.limitToFirst == null", true),
  ]

  private static func explain(_ expression: String) throws -> RuleExplanation {
    var writer = JSONWriter()
    writer.write(["rules": [".read": .string(expression)]])
    let rules = try RuleSet(parsing: String(decoding: writer.bytes, as: UTF8.self))
    return try RuleEvaluator(rules, auth: auth, now: 1_700_000_000_000, tree: NodeTree(tree)).explainRead(.root)
  }

  @Test("An expression is worth what JavaScript and the tree's own rules make of it", arguments: rows)
  func value(_ row: Row) throws {
    let explained = try Self.explain(row.expression)
    let failed = explained.steps[0].findings.contains { if case .failed = $0.outcome { true } else { false } }
    #expect(explained.isAllowed == (row.value ?? false) && failed == (row.value == nil), "\(explained.text)")
  }

  /// An expression, and the line and column of what is wrong with it.
  static let refusedRows: [(String, String, String)] = [
    ("", "1:21", "empty"), ("tru", "1:21", "Unknown name tru"), ("true &&", "1:28", "too early"),
    ("true true", "1:26", "Unexpected true"),
    ("auth.uid = 5", "1:30", "compare with =="), ("true; false", "1:25", "one expression"), ("'a", "1:21", "does not end"),
    ("1 < 'a'", "1:21", "two numbers or two strings"), ("!5", "1:22", "must be a boolean"),
    ("5 && true", "1:21", "must be a boolean"),
    ("auth != null && 5", "1:37", "must be a boolean"), ("'a' - 1 == 0", "1:21", "a number"),
    ("now.foo == 1", "1:21", "no foo"),
    ("root.foo()", "1:21", "no foo"), ("root.val", "1:21", "with parentheses"), ("root.child() == 1", "1:21", "one argument"),
    ("root.child(1).exists()", "1:32", "a string"), ("newData.exists()", "1:21", "only data and root"),
    ("$x == 'a'", "1:21", "Unknown variable $x"),
    ("root.hasChildren([])", "1:38", "at least one"), ("'a'.matches('a')", "1:33", "without quotes"),
    ("'a'.matches(/a/g)", "1:36", "flags"),
    ("'a'.matches(/a(b/)", "1:35", "does not end"), ("'a'.matches(/(?=a)/)", "1:34", ""),
    ("'a'.matches(/a\\\\1/)", "1:35", "back-references"),
    ("'a'.matches(/[b-a]/)", "1:35", "range"), ("'a'.matches(/a{2,1}/)", "1:35", "ends before"),
    ("'a'.matches(/a{1001}/)", "1:35", "1000"),
    ("'a'.matches(/((a{100}){100}){100}/)", "1:34", "too large"), ("[1] == 2", "1:21", "hasChildren"),
    ("/a/ == 'a'", "1:21", "matches"),
    ("true ? 1 : 2", "1:21", "boolean"), ("auth.uid", "1:21", "boolean"), ("root == null", "1:21", "snapshot"),
    ("0x10 == 16", "1:21", "decimal"),
    ("1e999 == 1", "1:21", "too large"), ("'\\\\uD800' == ''", "1:22", "surrogate"), ("a ? b", "1:26", "too early"),
    ("null < 1", "1:21", "not null"), ("auth.uid + true == ''", "1:32", "not a boolean"),
    ("auth.token[true] == 1", "1:32", "not a boolean"), ("auth#", "1:25", "Unexpected"),
    ("'a'\n    == b", "2:8", "Unknown name b"), ("'\\\"' == \\u0062", "1:29", "Unknown name b"),
  ]

  @Test("What can never be judged is refused at its place", arguments: refusedRows)
  func refused(_ expression: String, _ place: String, _ message: String) throws {
    // As it is in the file: the tests write the file's own escapes.
    let source = "{\"rules\":{ \".read\": \"\(expression)\"}}"
    let shift = place.hasPrefix("1:") ? 1 : 0
    if expression.hasPrefix("'a'.matches(/(?=a)/)") {
      // A group that begins with a question mark is a literal one.
      #expect(throws: Never.self) { try RuleSet(parsing: source) }
      return
    }
    let error = try #require(throws: RulesError.self) { try RuleSet(parsing: source) }
    let parts = place.split(separator: ":").compactMap { Int($0) }
    #expect(error.line == parts[0] && error.column == parts[1] + shift, "\(error)")
    #expect(error.message.contains(message), "\(error)")
  }

  @Test("All expressions that are wrong are told at once, in the order of the file")
  func allFaults() throws {
    let source = """
      {"rules": {
        ".read": "a == 1",
        "x": { ".write": "true &", ".validate": "newData.isString()" },
        "$y": { ".validate": "$x == 'a'" }
      }}
      """
    let error = try #require(throws: RulesError.self) { try RuleSet(parsing: source) }
    #expect(error.description.split(separator: "\n").map { $0.prefix(5) } == ["2:13:", "3:26:", "4:25:"], "\(error)")
    // What was accepted once is read again, and is never true.
    let stored = try RuleSet(stored: source)
    #expect(try RuleEvaluator(stored, auth: nil, now: 0, tree: NodeTree(.absent)).mayRead(.root) == false)
  }
}
