import AccessRules
import TestSupport
import Testing
import TreeModel

/// The evaluator beside the plainest ones, on random rules, data and operations.
@Suite("Rules beside a naive model")
struct ModelTests {
  /// Rules at three places: `/`, `/a` and `/$k`, and below each of them `/x`.
  struct Rules {
    var conditions: [String: NaiveExpression] = [:]

    static let places = ["", "a", "$k", "a/x", "$k/x"]

    func file() -> String {
      func node(_ place: String, _ children: String) -> String {
        let rules = ["read", "write", "validate"].compactMap { kind in
          conditions["\(place) .\(kind)"].map { "\".\(kind)\": \"\(quoted($0.text))\"" }
        }
        return "{" + (rules + [children].filter { !$0.isEmpty }).joined(separator: ", ") + "}"
      }
      let below = ["a", "$k"].map { "\"\($0)\": " + node($0, "\"x\": " + node("\($0)/x", "")) }.joined(separator: ", ")
      return "{\"rules\": " + node("", below) + "}"
    }

    private func quoted(_ text: String) -> String {
      text.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
    }

    /// The rule's place for a path, if there is one.
    static func pattern(_ keys: [String]) -> String? {
      switch keys.count {
      case 0: ""
      case 1: keys[0] == "a" ? "a" : "$k"
      case 2 where keys[1] == "x": keys[0] == "a" ? "a/x" : "$k/x"
      default: nil
      }
    }

    /// Whether a rule is there and true.
    func holds(_ kind: String, _ keys: [String], _ world: NaiveExpression.World) -> Bool? {
      guard let pattern = Self.pattern(keys), let condition = conditions["\(pattern) .\(kind)"] else { return nil }
      let here = NaiveExpression.World(
        before: world.before, after: world.after, place: keys, key: keys.first ?? "", auth: world.auth, now: world.now)
      return (try? condition.bool(here)) ?? false
    }

    func mayRead(_ keys: [String], _ world: NaiveExpression.World) -> Bool {
      (0...keys.count).contains { holds("read", Array(keys.prefix($0)), world) == true }
    }

    func mayWrite(_ writes: [(keys: [String], node: TreeNode)], _ world: NaiveExpression.World) -> Bool {
      writes.allSatisfy { write in
        guard (0...write.keys.count).contains(where: { holds("write", Array(write.keys.prefix($0)), world) == true }) else {
          return false
        }
        if !write.node.exists { return true }
        return (0..<write.keys.count).allSatisfy { holds("validate", Array(write.keys.prefix($0)), world) != false }
          && isValid(write.keys, write.node, world)
      }
    }

    private func isValid(_ keys: [String], _ node: TreeNode, _ world: NaiveExpression.World) -> Bool {
      holds("validate", keys, world) != false
        && node.children.allSatisfy { isValid(keys + [$0.key.text], $0.node, world) }
    }
  }

  private static func rules(_ random: inout RandomRules) -> Rules {
    var rules = Rules()
    for place in Rules.places {
      for kind in ["read", "write", "validate"] where !random.chance(3) {
        var condition = random.condition(3, newData: kind != "read")
        // Where there is no variable nobody can name it.
        while !place.hasPrefix("$k"), condition.text.contains("$k") { condition = random.condition(3, newData: kind != "read") }
        rules.conditions["\(place) .\(kind)"] = condition
      }
    }
    return rules
  }

  @Test("They agree on thousands of reads and writes", arguments: 0..<3)
  func agreement(_ part: Int) throws {
    var random = RandomRules(seed: UInt64(4000 + part))
    var allowed = 0
    var judged = 0
    for _ in 0..<40 {
      let model = Self.rules(&random)
      let rules: RuleSet
      do throws(RulesError) {
        rules = try RuleSet(parsing: model.file())
      } catch {
        // Types that can never fit are refused; the model has no types.
        continue
      }
      for _ in 0..<6 {
        let before = random.node(depth: 3)
        let auth = random.auth()
        let path = random.path(depthMax: 3)
        let keys = path.keys.map(\.text)
        let reading = RuleEvaluator(rules, auth: auth, now: 5, tree: NodeTree(before))
        let world = NaiveExpression.World(before: before, after: before, place: [], key: "", auth: auth, now: 5)
        #expect(try reading.mayRead(path) == model.mayRead(keys, world), "read \(path) of \(before) by \(model.file())")

        let (after, writes) = Self.operation(&random, on: before)
        let changed = NaiveExpression.World(before: before, after: after, place: [], key: "", auth: auth, now: 5)
        let judge = RuleEvaluator(rules, auth: auth, now: 5, tree: NodeTree(before, after))
        let expected = model.mayWrite(writes.map { ($0.path.keys.map(\.text), $0.node) }, changed)
        let asked = writes.map { RuleWrite(path: $0.path, value: .node($0.node)) }
        #expect(try judge.mayWrite(asked) == expected, "write \(asked) to \(before) by \(model.file())")
        #expect(try judge.explainWrite(asked).isAllowed == expected)
        allowed += expected ? 1 : 0
        judged += 1
      }
    }
    // Neither everything nor nothing.
    #expect(judged > 100 && allowed > judged / 20 && allowed < judged, "\(allowed) of \(judged)")
  }

  /// A set, a removal, or an update of places that do not lie in each other, in path order.
  private static func operation(_ random: inout RandomRules, on before: TreeNode) -> (TreeNode, [(path: Path, node: TreeNode)])
  {
    var writes: [(path: Path, node: TreeNode)] = []
    for _ in 0..<Int.random(in: 1...3, using: &random.random) {
      let path = random.path(depthMax: 3)
      guard !writes.contains(where: { $0.path.contains(path) || path.contains($0.path) }) else { continue }
      writes.append((path, random.chance(4) ? .absent : random.node(depth: 2)))
    }
    writes.sort { PathBytes($0.path) < PathBytes($1.path) }
    return (writes.reduce(before) { $0.setting($1.path, to: $1.node) }, writes)
  }
}
