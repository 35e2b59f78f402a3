package import TreeModel

/// What the server does when it loses this client, as far as it said that it will: run here, too, when the link is lost.
package struct DisconnectTree: Sendable {
  private var entries: [Path: WriteOperation.Assignment] = [:]

  /// Nothing to do.
  package init() {}

  /// Whether there is nothing to do.
  package var isEmpty: Bool { entries.isEmpty }

  /// The server will do this; it replaces what was to be done at the places and below.
  package mutating func remember(_ assignments: [WriteOperation.Assignment]) {
    for assignment in assignments {
      entries = entries.filter { !assignment.path.contains($0.key) || assignment.isPriority }
      entries[assignment.path] = assignment
    }
  }

  /// The server will do nothing at a place and below; of what is to be done above it, the rest stays.
  package mutating func forget(_ path: Path) {
    for (place, assignment) in entries {
      if path.contains(place) {
        entries[place] = nil
      } else if place.contains(path), case .node(let write) = assignment.value, !write.node.children.isEmpty {
        entries[place] = nil
        for entry in write.node.children {
          let below = place.child(entry.key)
          let slots = write.slots.filter { $0.path.keys.first == entry.key }.map {
            WriteNode.Slot(path: Path(keys: Array($0.path.keys.dropFirst())), isPriority: $0.isPriority, value: $0.value)
          }
          entries[below] = WriteOperation.Assignment(path: below, value: .node(WriteNode(entry.node, slots: slots)))
        }
        return forget(path)
      }
    }
  }

  /// What is to be done, from the root down; then nothing is.
  package mutating func take() -> [WriteOperation.Assignment] {
    defer { entries.removeAll() }
    return entries.values.sorted { $0.pathBytes < $1.pathBytes }
  }
}

extension WriteOperation.Assignment {
  fileprivate var isPriority: Bool {
    if case .priority = value { true } else { false }
  }
}

extension ClientTree {
  /// The link is lost: shows what the server does now on its side, in place of what it last said.
  package mutating func runDisconnect(_ assignments: [WriteOperation.Assignment], now: Int64) {
    if assignments.isEmpty { return }
    var touched: [Path] = []
    for assignment in assignments {
      let estimate = assignment.estimate(now: now) { cache.node(at: $0) ?? .absent }
      touched.append(estimate.path)
      switch estimate.value {
      case .node(let node): cache.overwrite(estimate.path, to: node)
      case .priority(let priority):
        guard let node = cache.node(at: estimate.path) else { continue }
        cache.overwrite(estimate.path, to: TreeNode(node.content, priority: priority))
      }
    }
    show(changed: touched)
    abortTransactions(touching: touched, .overridden)
  }
}
