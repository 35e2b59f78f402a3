import AccessRules
import TreeModel

/// Two trees in memory, as rules look at them.
struct NodeTree: RuleTree {
  var before: TreeNode = .absent
  var after: TreeNode = .absent

  init(_ before: TreeNode, _ after: TreeNode? = nil) {
    self.before = before
    self.after = after ?? before
  }

  private func node(_ path: PathBytes, _ side: RuleSide) -> TreeNode {
    guard let path = path.path else { return .absent }
    return (side == .before ? before : after)[path]
  }

  func read(at path: PathBytes, side: RuleSide) -> RuleRead {
    switch node(path, side).content {
    case .absent: .absent
    case .leaf(let scalar): .leaf(scalar)
    case .map: .map
    }
  }

  func priority(at path: PathBytes, side: RuleSide) -> Scalar? { node(path, side).priority }
}
