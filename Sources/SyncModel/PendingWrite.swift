package import TreeModel

/// A write that the server has not answered yet, with what it is thought to come to.
package struct PendingWrite: Sendable, Hashable {
  /// Its number.
  package let id: WriteID
  /// What was asked for.
  package let operation: WriteOperation
  /// What it is thought to write: server values are filled with an estimate, once and for all, so that the view does not
  /// count an increment twice while the server's own value arrives.
  let estimates: [Estimate]
  /// Whether listeners see it before the server answers.
  let isVisible: Bool

  /// One place and what it is thought to get.
  struct Estimate: Sendable, Hashable {
    let path: Path
    let value: Value

    enum Value: Sendable, Hashable {
      case node(TreeNode)
      case priority(Scalar?)
    }
  }

  /// - `now`: the time for timestamps, in milliseconds since 1970, as the server is thought to have it.
  /// - `current`: reads what is at a place before the write, as far as it is known.
  init(id: WriteID, operation: WriteOperation, isVisible: Bool, now: Int64, current: (Path) -> TreeNode) {
    self.id = id
    self.operation = operation
    self.isVisible = isVisible
    estimates = operation.assignments.map { $0.estimate(now: now, current: current) }
  }
}

extension WriteOperation.Assignment {
  /// What the assignment is thought to write.
  ///
  /// - `now`: the time for timestamps, in milliseconds since 1970, as the server is thought to have it.
  /// - `current`: reads what is at a place before.
  func estimate(now: Int64, current: (Path) -> TreeNode) -> PendingWrite.Estimate {
    switch value {
    case .node(let write):
      let node = write.resolved(now: now) { slot in
        let before = current(path.appending(slot.path))
        return slot.isPriority ? before.priority : before.scalar
      }
      return PendingWrite.Estimate(path: path, value: .node(node))
    case .priority(.scalar(let scalar)):
      return PendingWrite.Estimate(path: path, value: .priority(scalar))
    case .priority(.server(let value)):
      return PendingWrite.Estimate(path: path, value: .priority(value.resolved(now: now, current: current(path).priority)))
    }
  }
}

extension TreeNode {
  /// The node as it stands at `path` after the estimates.
  ///
  /// - `known`: whether all of the node is known before; changed to true by an estimate that replaces it whole.
  func applying(_ estimates: [PendingWrite.Estimate], at path: Path, known: inout Bool) -> TreeNode {
    var node = self
    for estimate in estimates {
      if estimate.path.contains(path) {
        switch estimate.value {
        case .node(let written):
          node = written[Path(keys: Array(path.keys[estimate.path.depth...]))]
          known = true
        case .priority(let priority):
          if estimate.path == path { node = TreeNode(node.content, priority: priority) }
        }
      } else if path.contains(estimate.path) {
        let below = Path(keys: Array(estimate.path.keys[path.depth...]))
        switch estimate.value {
        case .node(let written): node = node.setting(below, to: written)
        case .priority(let priority): node = node.settingPriority(below, to: priority) ?? node
        }
      }
    }
    return node
  }
}
