import TreeModel

extension WriteNode {
  /// A copy in which the node at `path` is replaced, with the places that the server is to fill in it.
  func setting(_ path: Path, to other: WriteNode) -> WriteNode {
    let node = self.node.setting(path, to: other.node)
    // A leaf that became a map, and a node that vanished, are filled no more.
    let kept = slots.filter { slot in
      guard !path.contains(slot.path) else { return false }
      return slot.isPriority ? node[slot.path].exists : node[slot.path].scalar != nil
    }
    let added = other.slots.map {
      Slot(path: path.appending($0.path), isPriority: $0.isPriority, value: $0.value)
    }
    return WriteNode(node, slots: kept + added)
  }

  /// A copy in which only the priority of the node at `path` is replaced; unchanged if no node is there.
  func settingPriority(of path: Path, to value: WriteOperation.PriorityValue) -> WriteNode {
    let (scalar, server): (Scalar?, ServerValue?) =
      switch value {
      case .scalar(let scalar): (scalar, nil)
      case .server(let server): (.int(0), server)
      }
    guard let node = self.node.settingPriority(path, to: scalar) else { return self }
    var slots = self.slots.filter { !($0.isPriority && $0.path == path) }
    if let server { slots.append(Slot(path: path, isPriority: true, value: server)) }
    return WriteNode(node, slots: slots)
  }

  /// The child under a key, with the places that the server is to fill in it.
  func child(_ key: Key) -> WriteNode {
    let inside = slots.filter { $0.path.keys.first == key }
    return WriteNode(
      node[key],
      slots: inside.map { Slot(path: Path(keys: Array($0.path.keys.dropFirst())), isPriority: $0.isPriority, value: $0.value) })
  }
}
