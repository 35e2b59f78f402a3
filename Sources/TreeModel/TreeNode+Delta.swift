/// The sparse difference that Firebase's event bodies carry beside the value before (spec: triggers-ledger §1.1).
///
/// null removes, an object merges into an object, anything else replaces. Values only: priorities are not part of events,
/// and maps are objects whatever their keys are.
extension TreeNode {
  /// What turns this value into another; an empty object if they are the same map, the value itself if it is a leaf.
  public func delta(to after: TreeNode) -> JSON {
    guard case .map(let old) = content, case .map(let new) = after.content else { return after.value }
    var members: [JSON.Member] = []
    for entry in old where !after[entry.key].exists { members.append(JSON.Member(key: entry.key.text, value: .null)) }
    for entry in new {
      let before = old[entry.key]
      if before.value == entry.node.value { continue }
      members.append(JSON.Member(key: entry.key.text, value: before.delta(to: entry.node)))
    }
    return .object(members)
  }

  /// The value after a difference; its priorities are gone.
  public func applying(delta: JSON) -> TreeNode {
    withoutPriorities.merging(delta)
  }

  private func merging(_ delta: JSON) -> TreeNode {
    switch delta {
    case .object(let members):
      var children = self.children
      for member in members {
        let key = TreeModel.Key(unchecked: member.key)
        children = children.setting(key, to: children[key].merging(member.value))
      }
      return .map(children)
    case .array(let elements):
      let entries = elements.enumerated().map { index, element in
        TreeMap.Entry(key: TreeModel.Key(unchecked: String(index)), node: TreeNode.absent.merging(element))
      }
      return .map(TreeMap(entries))
    case .null: return .absent
    case .bool(let value): return .leaf(.bool(value))
    case .int(let value): return .leaf(.int(value))
    case .double(let value): return .leaf(.number(value))
    case .string(let value): return .leaf(.string(value))
    }
  }

  private var withoutPriorities: TreeNode {
    guard case .map(let map) = content else { return TreeNode(content) }
    return .map(TreeMap(map.map { TreeMap.Entry(key: $0.key, node: $0.node.withoutPriorities) }))
  }

  /// The value as JSON in which every map is an object, without priorities.
  private var value: JSON {
    switch content {
    case .absent: .null
    case .leaf(let scalar): scalar.json
    case .map(let map): .object(map.map { JSON.Member(key: $0.key.text, value: $0.node.value) })
    }
  }
}
