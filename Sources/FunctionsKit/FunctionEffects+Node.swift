import TreeModel

extension FunctionEffects {
  /// What stands at a place after the operations so far, if `stored` stands there before them: what a transaction of the
  /// same run goes on from.
  ///
  /// - Parameter now: stands for the time of the commit, which nobody knows yet.
  func node(at place: Path, over stored: TreeNode, now: Int64) -> TreeNode {
    var node = stored
    for operation in operations {
      for assignment in operation.assignments { assignment.apply(to: &node, at: place, now: now) }
    }
    return node
  }
}

extension WriteOperation.Assignment {
  /// Does to the node at a place what the assignment does to the tree.
  fileprivate func apply(to node: inout TreeNode, at place: Path, now: Int64) {
    if path.keys.starts(with: place.keys) {
      let below = Path(keys: Array(path.keys.dropFirst(place.keys.count)))
      let before = node[below]
      switch value {
      case .node(let write):
        let written = write.resolved(now: now) { slot in
          slot.isPriority ? before[slot.path].priority : before[slot.path].scalar
        }
        node = node.setting(below, to: written)
      case .priority(let value):
        let priority: Scalar? =
          switch value {
          case .scalar(let scalar): scalar
          case .server(let value): value.resolved(now: now, current: before.priority)
          }
        node = node.settingPriority(below, to: priority) ?? node
      }
    } else if place.keys.starts(with: path.keys), case .node(let write) = value {
      let below = Path(keys: Array(place.keys.dropFirst(path.keys.count)))
      let before = node
      let written = write.resolved(now: now) { slot -> Scalar? in
        // What lies beside the place is not looked at.
        guard slot.path.keys.starts(with: below.keys) else { return nil }
        let its = before[Path(keys: Array(slot.path.keys.dropFirst(below.keys.count)))]
        return slot.isPriority ? its.priority : its.scalar
      }
      node = written[below]
    }
  }
}
