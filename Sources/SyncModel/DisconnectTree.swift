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
