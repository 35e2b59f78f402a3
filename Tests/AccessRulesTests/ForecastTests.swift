import TestSupport
import Testing
import TreeModel

@testable import AccessRules

/// What is known of a `.write` before any data are there.
struct ForecastTests {
  private static func mightHold(_ expression: String, _ auth: JSON?) throws -> Bool {
    var writer = JSONWriter()
    writer.string(expression)
    let text = String(decoding: writer.bytes, as: UTF8.self)
    let rules = try RuleSet(parsing: "{\"rules\": {\"a\": {\"$k\": {\".write\": \(text)}}}}")
    return rules.mightAllowWrite("a/b", below: false, auth: auth)
  }

  @Test("A rule that nobody could meet is known for one; where it cannot be known it counts as one that might hold")
  func nobody() throws {
    for (expression, mightHold) in [
      ("true", true), ("false", false), ("auth != null", false), ("auth == null", true), ("auth.uid === $k", false),
      ("$k === auth.uid", false), ("auth != null && auth.uid === $k", false), ("auth.uid !== $k", true),
      ("!(auth.uid === $k)", true), ("!(auth == null)", false), ("!!(auth == null)", true),
      ("auth.token.admin === true", false), ("auth.token.admin !== true", true),
      ("auth != null || now > 5", true), ("auth != null || auth.token.admin == true", false),
      ("data.val() === auth.uid", true), ("data.exists()", true), ("newData.isString()", true),
      ("root.child('owners').child(auth.uid).exists()", false), ("root.child('owners/' + auth.uid).exists()", false),
      ("root.child('owners').hasChild(auth.uid)", false), ("root.child('o').hasChildren([auth.uid])", false),
      ("!root.child('owners').hasChild(auth.uid)", false), ("auth.uid.length > 3", false), ("auth.uid > 3", false),
      ("auth.uid.contains('x')", false), ("!auth.uid.contains('x')", false), ("auth.uid.matches(/x/)", false),
      ("data.exists() ? auth != null : auth.uid === $k", false), ("data.exists() ? auth != null : true", true),
      ("auth != null ? true : newData.exists()", true), ("auth == null ? false : true", false),
      ("data.exists() || auth.uid.length > 3", true), ("auth.uid.length > 3 || data.exists()", false),
      ("now - auth.token.auth_time < 5", false), ("$k.length == 3 && newData.exists()", true),
    ] {
      #expect(try Self.mightHold(expression, nil) == mightHold, "\(expression)")
    }
  }

  @Test("Of somebody it is known by what the token says")
  func somebody() throws {
    let auth: JSON = ["uid": "bob", "token": ["admin": true, "level": 3]]
    for (expression, mightHold) in [
      ("auth != null", true), ("auth.uid === $k", true), ("auth == null", false), ("auth.token.admin === true", true),
      ("auth.token.admin === false", false), ("auth.token.moderator === true", false), ("auth.token.level === $k", false),
      ("auth.uid === 'eve'", false), ("auth.uid === 'bob' && newData.exists()", true),
    ] {
      #expect(try Self.mightHold(expression, auth) == mightHold, "\(expression)")
    }
  }

  @Test("What is forecast to be refused is refused, on any data", arguments: [1, 2, 3] as [UInt64])
  func agrees(seed: UInt64) throws {
    let parts = [
      "auth != null", "auth.uid === $k", "data.exists()", "newData.val() === 1", "auth.uid.length > 1", "now > 3", "true",
      "root.child('b').hasChild(auth.uid)", "auth.token.admin === true", "$k === 'b'", "data.val() === auth.uid",
    ]
    var random = SplitMix64(seed: seed)
    func expression(_ depth: Int) -> String {
      if depth == 0 { return parts[Int.random(in: 0..<parts.count, using: &random)] }
      let (left, right) = (expression(depth - 1), expression(depth - 1))
      switch Int.random(in: 0..<5, using: &random) {
      case 0: return "!(\(left))"
      case 1: return "(\(left) ? \(right) : \(expression(depth - 1)))"
      case 2, 3: return "(\(left) && \(right))"
      default: return "(\(left) || \(right))"
      }
    }
    var refused = 0
    for _ in 0..<400 {
      let text = expression(3)
      let rules = try RuleSet(parsing: "{\"rules\": {\"a\": {\"$k\": {\".write\": \"\(text)\"}}}}")
      for auth in [nil, ["uid": "b"], ["uid": "x", "token": ["admin": true]]] as [JSON?] {
        guard !rules.mightAllowWrite("a/b", below: false, auth: auth) else { continue }
        refused += 1
        for (before, node) in [(.absent, 1), (["a": ["b": 1]], 2), (["b": ["b": 1, "x": 2]], "b")] as [(TreeNode, TreeNode)] {
          let judge = RuleEvaluator(rules, auth: auth, now: 5, tree: NodeTree(before, before.setting("a/b", to: node)))
          #expect(try !judge.mayWrite([RuleWrite(path: "a/b", value: .node(node))]), "\(text)")
        }
      }
    }
    #expect(refused > 100)
  }

  @Test("The whole way counts, and for an update what lies below")
  func way() throws {
    let rules = try RuleSet(
      parsing: """
        {"rules": {"users": {"$uid": {".write": "auth.uid === $uid", "wall": {".write": true}}}, "open": {".write": "now > 5"}}}
        """)
    for (path, below, mightAllow) in [
      ("users/x", false, false), ("users/x", true, true), ("users/x/wall", false, true), ("users/x/wall/deep/er", false, true),
      ("users/x/name", true, false), (.root, false, false), (.root, true, true), ("open", false, true), ("none", true, false),
    ] as [(Path, Bool, Bool)] {
      #expect(rules.mightAllowWrite(path, below: below, auth: nil) == mightAllow, "\(path) \(below)")
    }
  }
}
