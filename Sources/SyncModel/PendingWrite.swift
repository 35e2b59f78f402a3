package import TreeModel

/// A write that the server has not answered yet, with what it is thought to come to.
package struct PendingWrite: Sendable, Hashable {
  /// Its number.
  package let id: WriteID
  /// What was asked for.
  package let operation: WriteOperation
  /// What it is thought to write: server values are filled with an estimate, once and for all, so that the view does not
  /// count an increment twice while the server's own value arrives.
  let estimates: [TreeChange]
  /// Whether listeners see it before the server answers.
  let isVisible: Bool

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
  func estimate(now: Int64, current: (Path) -> TreeNode) -> TreeChange {
    switch value {
    case .node(let write):
      let node = write.resolved(now: now) { slot in
        let before = current(path.appending(slot.path))
        return slot.isPriority ? before.priority : before.scalar
      }
      return TreeChange(path: path, value: .node(node))
    case .priority(.scalar(let scalar)):
      return TreeChange(path: path, value: .priority(scalar))
    case .priority(.server(let value)):
      return TreeChange(path: path, value: .priority(value.resolved(now: now, current: current(path).priority)))
    }
  }
}
