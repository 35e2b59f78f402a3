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
    var node = self.node
    for slot in slots {
      let base: Scalar? = if case .increment = slot.value { try current(slot) } else { nil }
      node = node.filling(slot.path.keys[...], isPriority: slot.isPriority, with: slot.value.resolved(now: now, current: base))
    }
    return node
  }
}

extension TreeNode {
  fileprivate func filling(_ keys: ArraySlice<TreeModel.Key>, isPriority: Bool, with scalar: Scalar) -> TreeNode {
    guard let key = keys.first else {
      return isPriority ? TreeNode(content, priority: scalar) : .leaf(scalar, priority: priority)
    }
    let child = self[key].filling(keys.dropFirst(), isPriority: isPriority, with: scalar)
    return .map(children.setting(key, to: child), priority: priority)
  }
}
