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

  private func node(_ place: PathBytes, _ side: RuleSide) -> TreeNode {
    guard let path = place.path else { return .absent }
    return (side == .before ? before : after)[path]
  }

  func read(at place: PathBytes, side: RuleSide) -> RuleRead {
    switch node(place, side).content {
    case .absent: .absent
    case .leaf(let scalar): .leaf(scalar)
    case .map: .map
    }
  }

  func priority(at place: PathBytes, side: RuleSide) -> Scalar? { node(place, side).priority }
}
