import Testing
import TreeModel

@testable import AccessRules

/// The order in which rules are asked, and what they see.
@Suite("Judging reads and writes")
struct JudgementTests {
  private static func rules(_ source: String) throws -> RuleSet { try RuleSet(parsing: "{\"rules\": \(source)}") }

  private static func write(
    _ rules: RuleSet, _ before: TreeNode, _ operation: WriteOperation, auth: JSON? = nil, now: Int64 = 5
  ) throws -> RuleExplanation {
    var after = before
    var writes: [RuleWrite] = []
    for assignment in operation.assignments {
      switch assignment.value {
      case .node(let node):
        let resolved = node.resolved(now: now) { _ in nil }
        after = after.setting(assignment.path, to: resolved)
        writes.append(RuleWrite(path: assignment.path, value: .node(resolved)))
      case .priority(.scalar(let priority)):
        after = after.settingPriority(assignment.path, to: priority) ?? after
        writes.append(RuleWrite(path: assignment.path, value: .priority))
      case .priority: Issue.record("Not used here.")
      }
    }
    let judge = RuleEvaluator(rules, auth: auth, now: now, tree: NodeTree(before, after))
    let explanation = try judge.explainWrite(writes)
    #expect(try judge.mayWrite(writes) == explanation.isAllowed)
    return explanation
  }

  @Test("70. The first true .read from the root opens all below; a child cannot take it back")
  func readOrder() throws {
    let rules = try Self.rules(#"{".read": false, "a": {".read": true, "b": {".read": false}}, "c": {"d": {".read": true}}}"#)
    let judge = RuleEvaluator(rules, auth: nil, now: 0, tree: NodeTree(.absent))
    #expect(try judge.mayRead("a/b/c") && judge.mayRead("c/d") && !judge.mayRead("c") && !judge.mayRead(.root))
    let steps = try judge.explainRead("a/b").steps
    #expect(steps.map(\.pattern) == ["/", "/a"] && steps.map(\.isTrue) == [false, true])
    let denied = try judge.explainRead("x/y")
    #expect(denied.text == "Denied: read /x/y\n  1:21 .read of / is false: false")
    let none = try RuleEvaluator(try Self.rules("{}"), auth: nil, now: 0, tree: NodeTree(.absent)).explainRead("x")
    #expect(none.text == "Denied: read /x\n  No rule on the way from / to there allows it, and what no rule allows is denied.")
  }

  @Test("71. .write from the root to the place, then every .validate on the way and below along the new data")
  func writeOrder() throws {
    let rules = try Self.rules(
      """
      {".validate": true, "a": {".write": false, ".validate": true, "$k": {".write": true, ".validate": true,
        "x": {".write": false, ".validate": "newData.isNumber()", "y": {".validate": false}}, "z": {".validate": false}}}}
      """)
    let allowed = try Self.write(rules, .absent, .set("a/b", ["x": 1, "other": 2]))
    #expect(allowed.isAllowed)
    #expect(
      allowed.steps.map { "\($0.kind.rawValue) \($0.path)" } == [
        ".write /a", ".write /a/b", ".validate /", ".validate /a", ".validate /a/b", ".validate /a/b/x",
      ])
    #expect(try !Self.write(rules, .absent, .set("a/b", ["x": "text"])).isAllowed)
    #expect(try !Self.write(rules, .absent, .set("a/b", ["z": 1])).isAllowed)
    // A rule below the place that has no data is not asked; neither is a .write below.
    #expect(try Self.write(rules, ["a": ["b": ["z": 1]]], .set("a/b", ["q": 1])).isAllowed)
    #expect(try !Self.write(rules, .absent, .set("a", ["b": ["x": 1]])).isAllowed)
    #expect(try Self.write(rules, .absent, .set("a/b/x", 1)).isAllowed)
    #expect(try !Self.write(rules, .absent, .set("a/b/x/y", 1)).isAllowed)
  }

  @Test("71. Deleting asks .write alone; of an update each place is judged by itself")
  func deleting() throws {
    let rules = try Self.rules(
      #"{"$u": {".write": "newData.exists() || auth.uid == $u", ".validate": "newData.hasChildren(['a','b'])"}}"#)
    let before: TreeNode = ["u": ["a": 1, "b": 2], "v": ["a": 1, "b": 2]]
    #expect(try Self.write(rules, before, .remove("u"), auth: ["uid": "u"]).isAllowed)
    #expect(try !Self.write(rules, before, .remove("u")).isAllowed)
    // What stays of the record is not looked at: the written value is nothing.
    #expect(try Self.write(rules, before, .remove("u/a")).isAllowed)
    func node(_ path: Path, _ node: TreeNode) -> WriteOperation.Assignment { .init(path: path, value: .node(WriteNode(node))) }
    #expect(try !Self.write(rules, before, .update(.root, [node("u", .absent), node("v/a", 3)])).isAllowed)
    #expect(try Self.write(rules, before, .update(.root, [node("u/a", 5), node("v/a", 3)])).isAllowed)
    #expect(try !Self.write(rules, before, .update(.root, [node("u/a", .absent), node("u/b", 3)])).isAllowed)
    #expect(try Self.write(rules, .absent, .update("w", [node("w/a", 5), node("w/b", 3)])).isAllowed)
    #expect(try !Self.write(rules, .absent, .update("w", [node("w/a", 5)])).isAllowed)
  }

  @Test("A rule on the common way of an update is asked once, and sees the whole of it")
  func common() throws {
    let rules = try Self.rules(
      #"{"l": {".write": "newData.child('k9').exists()", ".validate": "newData.hasChildren(['k0'])"}}"#)
    let assignments = (0..<10).map { index in
      WriteOperation.Assignment(
        path: Path(keys: [Key(unchecked: "l"), Key(unchecked: "k\(index)")]), value: .node(WriteNode(1)))
    }
    let explained = try Self.write(rules, .absent, .update(.root, assignments))
    #expect(explained.isAllowed && explained.steps.count == 2)
  }

  @Test("data, newData and variables are those of the rule's own place; root is the tree before")
  func places() throws {
    let rules = try Self.rules(
      """
      {"$a": {".write": "$a == 'x' && data.child('n').val() == 1 && newData.child('n').val() == 2 && root.child('x/n').val() == 1",
        "n": {".validate": "data.val() == 1 && newData.val() == 2 && newData.parent().child('m').val() == 5 && data.parent().parent().hasChild($a)"}}}
      """)
    let explained = try Self.write(rules, ["x": ["n": 1, "m": 5]], .set("x/n", 2))
    #expect(explained.isAllowed, "\(explained.text)")
  }

  @Test("A priority is judged as a write of its node; what lies below it is as it was")
  func priorities() throws {
    let rules = try Self.rules(
      #"{"p": {".write": true, ".validate": "newData.getPriority() != data.getPriority()", "c": {".validate": false}}}"#)
    let before: TreeNode = ["p": ["c": 1]]
    #expect(try Self.write(rules, before, .setPriority("p", priority: .scalar("high"))).isAllowed)
    #expect(try !Self.write(rules, before, .setPriority("p", priority: .scalar(nil))).isAllowed)
  }

  @Test("73. now is the operation's time")
  func now() throws {
    let rules = try Self.rules(#"{"t": {".write": "newData.val() === now"}}"#)
    #expect(try Self.write(rules, .absent, .set("t", .timestamp), now: 1234).isAllowed)
    #expect(try !Self.write(rules, .absent, .set("t", 1233), now: 1234).isAllowed)
  }

  @Test("Too much work is denied, and says so; so is a text that grows without measure")
  func budget() throws {
    let long = try Self.rules(#"{".write": "auth.t.replace('a', auth.t) == 'x'"}"#)
    let text = String(repeating: "a", count: 4000)
    let explained = try Self.write(long, .absent, .set("x", 1), auth: ["t": .string(text)])
    #expect(!explained.isAllowed && explained.text.contains("Judging took too long"), "\(explained.text)")
    // All rules of an operation share one budget.
    let rules = try Self.rules(#"{".write": true, "$k": {".validate": "root.child('a').exists() || true"}}"#)
    let children = TreeNode.map(TreeMap((0..<100).map { TreeMap.Entry(key: Key(unchecked: "k\($0)"), node: 1) }))
    for (stepsMax, isAllowed) in [(1000, true), (300, false)] {
      let judge = RuleEvaluator(
        rules, auth: nil, now: 0, tree: NodeTree(.absent, children), witness: nil, stepsMax: stepsMax)
      #expect(try judge.mayWrite([RuleWrite(path: .root, value: .node(children))]) == isAllowed)
    }
  }

  @Test("A tree that cannot be looked at decides nothing")
  func unreadable() throws {
    struct Broken: RuleTree {
      func read(at path: PathBytes, side: RuleSide) throws(RuleTreeError) -> RuleRead { throw RuleTreeError("gone") }
      func priority(at path: PathBytes, side: RuleSide) throws(RuleTreeError) -> Scalar? { throw RuleTreeError("gone") }
    }
    let rules = try Self.rules(#"{".read": "!data.exists()", "a": {".read": true}}"#)
    #expect(throws: RuleTreeError.self) { try RuleEvaluator(rules, auth: nil, now: 0, tree: Broken()).mayRead("a") }
  }
}
