import TreeModel

/// Two trees in memory, as rules look at them.
struct NodePair: RuleTree {
  let before: TreeNode
  let after: TreeNode

  func glance(at place: PathBytes, _ side: RuleSide) -> RuleGlance {
    switch node(place, side).content {
    case .absent: .absent
    case .leaf(let scalar): .leaf(scalar)
    case .map: .map
    }
  }

  func priority(at place: PathBytes, _ side: RuleSide) -> Scalar? { node(place, side).priority }

  private func node(_ place: PathBytes, _ side: RuleSide) -> TreeNode {
    guard let path = place.path else { return .absent }
    return (side == .before ? before : after)[path]
  }
}
