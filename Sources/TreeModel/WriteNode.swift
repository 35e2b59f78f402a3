/// A node as a client sends it: a ``TreeNode`` in which some places are still to be filled by the server.
public struct WriteNode: Sendable, Hashable {
  /// A place to fill, relative to the node; `isPriority` fills the priority of the node there.
  public struct Slot: Sendable, Hashable {
    /// The place, relative to the node.
    public let path: Path
    /// Whether the priority of the node there is filled, not its value.
    public let isPriority: Bool
    /// What the server puts there.
    public let value: ServerValue

    /// A place to fill.
    public init(path: Path, isPriority: Bool, value: ServerValue) {
      self.path = path
      self.isPriority = isPriority
      self.value = value
    }
  }

  /// The node, with an integer 0 in every slot.
  public let node: TreeNode
  /// The places to fill.
  public let slots: [Slot]

  /// Data with places to fill; each slot must lie in the node.
  public init(_ node: TreeNode, slots: [Slot] = []) {
    self.node = node
    self.slots = slots
  }

  /// Absence: writing it deletes.
  public static let absent = WriteNode(.absent)

  /// The time of the operation.
  public static let timestamp = WriteNode(.leaf(.int(0)), slots: [Slot(path: .root, isPriority: false, value: .timestamp)])

  /// What stands at the place, plus `delta`.
  public static func increment(_ delta: Int64) -> WriteNode {
    WriteNode(.leaf(.int(0)), slots: [Slot(path: .root, isPriority: false, value: .increment(.int(delta)))])
  }

  /// The node with every slot filled.
  ///
  /// - Parameters:
  ///   - now: the operation's time, in milliseconds since 1970.
  ///   - current: reads what stands at a slot's place before the operation: its leaf, or its priority.
  public func resolved<E: Error>(now: Int64, current: (Slot) throws(E) -> Scalar?) throws(E) -> TreeNode {
    if slots.isEmpty { return node }
    var fills: [Fill] = []
    fills.reserveCapacity(slots.count)
    for slot in slots {
      let base: Scalar? = if case .increment = slot.value { try current(slot) } else { nil }
      let scalar = slot.value.resolved(now: now, current: base)
      fills.append(Fill(keys: slot.path.keys, isPriority: slot.isPriority, scalar: scalar))
    }
    return node.filling(fills, depth: 0)
  }
}

/// What the server puts at a place.
private struct Fill {
  let keys: [Key]
  let isPriority: Bool
  let scalar: Scalar
}

extension TreeNode {
  /// The node with all of these filled, whose first `depth` keys lead here: one walk, in which each map is made once.
  fileprivate func filling(_ fills: [Fill], depth: Int) -> TreeNode {
    var node = self
    var below: [TreeModel.Key: [Fill]] = [:]
    for fill in fills {
      if fill.keys.count > depth {
        below[fill.keys[depth], default: []].append(fill)
      } else if fill.isPriority {
        node = TreeNode(node.content, priority: fill.scalar)
      } else {
        node = .leaf(fill.scalar, priority: node.priority)
      }
    }
    if below.isEmpty { return node }
    let entries = node.children.map { entry in
      below[entry.key].map { TreeMap.Entry(key: entry.key, node: entry.node.filling($0, depth: depth + 1)) } ?? entry
    }
    return .map(TreeMap(entries), priority: node.priority)
  }
}
