public import TreeModel

/// One line of a test of rules: who does what on which data, and whether that must be allowed.
public struct RuleCase: Sendable {
  /// What is done.
  public enum Action: Sendable {
    case read(Path, Query?)
    case write(WriteOperation)
  }

  /// What the test's author calls it.
  public let name: String
  /// What `auth` is; nil for nobody.
  public let auth: JSON?
  /// What is done.
  public let action: Action
  /// The tree before it.
  public let data: TreeNode
  /// The time, in milliseconds since 1970.
  public let now: Int64
  /// Whether it must be allowed.
  public let isAllowed: Bool
  /// The rule that must decide, as `.validate /users/$uid/level`; `none` if no rule may; nil where any will do.
  public let decidedBy: String?

  /// What came of a case.
  public struct Result: Sendable {
    /// The case.
    public let ruleCase: RuleCase
    /// Why the rules allowed or denied it.
    public let explanation: RuleExplanation
    /// What is not as the case wants it; nil if all is.
    public let problem: String?
  }

  /// Evaluates the case by rules.
  ///
  /// - `coverage`: takes note of what was evaluated.
  public func result(by rules: RuleSet, coverage: RuleCoverage? = nil) -> Result {
    let explanation: RuleExplanation
    do {
      explanation = try explained(by: rules, coverage: coverage)
    } catch {
      let nothing = RuleExplanation(operation: name, isAllowed: false, steps: [])
      return Result(ruleCase: self, explanation: nothing, problem: "\(error)")
    }
    let deciders = explanation.decisive.map { "\($0.kind.rawValue) \($0.pattern)" }
    var problem: String?
    if explanation.isAllowed != isAllowed {
      problem = "must be \(isAllowed ? "allowed" : "denied"), but is \(isAllowed ? "denied" : "allowed")"
    } else if let decidedBy, decidedBy == "none" ? !deciders.isEmpty : !deciders.contains(decidedBy) {
      problem = "must be decided by \(decidedBy), but is by \(deciders.isEmpty ? "none" : deciders.joined(separator: ", "))"
    }
    return Result(ruleCase: self, explanation: explanation, problem: problem)
  }

  private func explained(by rules: RuleSet, coverage: RuleCoverage?) throws -> RuleExplanation {
    switch action {
    case .read(let path, let query):
      let tree = NodePair(before: data, after: data)
      if let coverage {
        _ = try RuleEvaluator(rules, auth: auth, now: now, tree: tree, witness: coverage).mayRead(path, query: query)
      }
      return try RuleEvaluator(rules, auth: auth, now: now, tree: tree).explainRead(path, query: query)
    case .write(let operation):
      let (after, writes) = try Self.applying(operation, to: data, now: now)
      let tree = NodePair(before: data, after: after)
      if let coverage { _ = try RuleEvaluator(rules, auth: auth, now: now, tree: tree, witness: coverage).mayWrite(writes) }
      return try RuleEvaluator(rules, auth: auth, now: now, tree: tree).explainWrite(writes)
    }
  }

  /// The tree after an operation, and what rules are asked of it.
  static func applying(_ operation: WriteOperation, to data: TreeNode, now: Int64) throws(RuleCaseError)
    -> (after: TreeNode, writes: [RuleWrite])
  {
    var after = data
    var writes: [RuleWrite] = []
    for assignment in operation.assignments {
      let path = assignment.path
      switch assignment.value {
      case .node(let write):
        let node = write.resolved(now: now) { slot in
          let found = data[path.appending(slot.path)]
          return slot.isPriority ? found.priority : found.scalar
        }
        after = after.setting(path, to: node)
        writes.append(RuleWrite(path: path, value: .node(node)))
      case .priority(let value):
        let priority: Scalar? =
          switch value {
          case .scalar(let scalar): scalar
          case .server(let server): server.resolved(now: now, current: data[path].priority)
          }
        guard let changed = after.settingPriority(path, to: priority) else {
          throw RuleCaseError("A priority needs a node: \(path) does not exist in the case's data.")
        }
        after = changed
        writes.append(RuleWrite(path: path, value: .priority))
      }
    }
    return (after, writes)
  }
}

/// What is wrong with a file of cases.
public struct RuleCaseError: Error, Sendable, CustomStringConvertible {
  /// What is wrong and what to do.
  public let message: String

  init(_ message: String) {
    self.message = message
  }

  public var description: String { message }
}

/// Two trees in memory, as rules look at them.
struct NodePair: RuleTree {
  let before: TreeNode
  let after: TreeNode

  func read(at pathBytes: PathBytes, side: RuleSide) -> RuleRead {
    switch node(pathBytes, side: side).content {
    case .absent: .absent
    case .leaf(let scalar): .leaf(scalar)
    case .map: .map
    }
  }

  func priority(at pathBytes: PathBytes, side: RuleSide) -> Scalar? { node(pathBytes, side: side).priority }

  private func node(_ pathBytes: PathBytes, side: RuleSide) -> TreeNode {
    guard let path = pathBytes.path else { return .absent }
    return (side == .before ? before : after)[path]
  }
}
