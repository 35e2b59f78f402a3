extension WriteOperation.Assignment {
  /// The data as clients write them, server values included (Firebase's REST reference).
  package var json: JSON {
    switch value {
    case .node(let write): write.json
    case .priority(.scalar(let scalar)): scalar?.json ?? .null
    case .priority(.server(let value)): value.json
    }
  }
}

extension ServerValue {
  fileprivate var json: JSON {
    switch self {
    case .timestamp: [".sv": "timestamp"]
    case .increment(let delta): [".sv": ["increment": delta.json]]
    }
  }
}

extension WriteNode {
  /// The data in export form, server values included.
  fileprivate var json: JSON {
    if slots.isEmpty { return node.jsonValue(.export) }
    return Self.json(node, slots)
  }

  private static func json(_ node: TreeNode, _ slots: [Slot]) -> JSON {
    let own = slots.first { $0.path.isRoot && !$0.isPriority }?.value.json
    let priority = slots.first { $0.path.isRoot && $0.isPriority }?.value.json ?? node.priority?.json
    var members: [JSON.Member] = []
    if let value = own ?? node.scalar?.json {
      guard let priority else { return value }
      return .object([.init(key: ".value", value: value), .init(key: ".priority", value: priority)])
    }
    for entry in node.children {
      let below = slots.compactMap { slot in
        slot.path.keys.first == entry.key
          ? Slot(path: Path(keys: Array(slot.path.keys.dropFirst())), isPriority: slot.isPriority, value: slot.value) : nil
      }
      let value = below.isEmpty ? entry.node.jsonValue(.export) : json(entry.node, below)
      members.append(.init(key: entry.key.text, value: value))
    }
    if let priority { members.append(.init(key: ".priority", value: priority)) }
    return members.isEmpty ? .null : .object(members)
  }
}
