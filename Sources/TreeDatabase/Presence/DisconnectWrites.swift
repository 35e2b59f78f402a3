public import TreeModel

/// What a connection has asked to be written when it ends (Firebase, "Enabling Offline Capabilities").
///
/// A sparse tree: a later registration replaces what was registered at and below its place, one below a registered node
/// changes that node, and a cancellation forgets what lies at and below its place and carves the place out of a node
/// registered above it. Clients keep the same tree and carry it out by themselves when they lose the link, so the rules are
/// theirs, the odd ones included: carving a child out of a node leaves its other children to be written one by one, without
/// the node's priority, and cancelling below a removal cancels the removal.
public struct DisconnectWrites: Sendable {
  /// A place on which something is registered, or above one.
  private struct PendingNode: Sendable {
    var node: WriteNode?
    /// Only where no node is registered.
    var priority: WriteOperation.PriorityValue?
    var children: [Key: PendingNode] = [:]

    var isEmpty: Bool { node == nil && priority == nil && children.isEmpty }
  }

  private var root = PendingNode()

  /// Nothing registered.
  public init() {}

  /// Whether there is nothing to write.
  public var isEmpty: Bool { root.isEmpty }

  /// Registers a set or an update: each of its assignments replaces what was registered at and below its place.
  public mutating func register(_ operation: WriteOperation) {
    for assignment in operation.assignments {
      switch assignment.value {
      case .node(let node): Self.remember(node, at: assignment.path.keys[...], in: &root)
      case .priority(let value): Self.remember(value, at: assignment.path.keys[...], in: &root)
      }
    }
  }

  /// Forgets what is registered at and below a place.
  public mutating func cancel(_ path: Path) {
    _ = Self.forget(path.keys[...], in: &root)
  }

  /// What is to be written, sorted by place; no place lies in another.
  public var assignments: [WriteOperation.Assignment] {
    var found: [WriteOperation.Assignment] = []
    Self.collect(root, at: [], into: &found)
    return found
  }

  /// How many leaves and removals are registered.
  public var leafCount: Int { Self.leafCount(root) }
}

// MARK: - The tree

extension DisconnectWrites {
  private static func remember(_ node: WriteNode, at keys: ArraySlice<Key>, in pending: inout PendingNode) {
    guard let key = keys.first else {
      pending = PendingNode(node: node)
      return
    }
    if let above = pending.node {
      pending.node = above.setting(Path(keys: Array(keys)), to: node)
    } else {
      remember(node, at: keys.dropFirst(), in: &pending.children[key, default: PendingNode()])
    }
  }

  private static func remember(
    _ priority: WriteOperation.PriorityValue, at keys: ArraySlice<Key>, in pending: inout PendingNode
  ) {
    if let above = pending.node {
      pending.node = above.settingPriority(of: Path(keys: Array(keys)), to: priority)
    } else if let key = keys.first {
      remember(priority, at: keys.dropFirst(), in: &pending.children[key, default: PendingNode()])
    } else {
      pending.priority = priority
    }
  }

  /// - Returns: whether nothing is left at the place.
  private static func forget(_ keys: ArraySlice<Key>, in pending: inout PendingNode) -> Bool {
    guard let key = keys.first else {
      pending = PendingNode()
      return true
    }
    if let node = pending.node {
      // Below a leaf there is nothing to forget.
      if node.node.scalar != nil { return false }
      pending = PendingNode()
      let slots = node.slotsOfChildren
      for entry in node.node.children {
        pending.children[entry.key] = PendingNode(node: WriteNode(entry.node, slots: slots[entry.key] ?? []))
      }
    }
    if var child = pending.children[key] {
      let isEmpty = forget(keys.dropFirst(), in: &child)
      pending.children[key] = isEmpty ? nil : child
    }
    return pending.isEmpty
  }

  private static func collect(_ pending: PendingNode, at keys: [Key], into found: inout [WriteOperation.Assignment]) {
    if let node = pending.node { return found.append(.init(path: Path(keys: keys), value: .node(node))) }
    if let priority = pending.priority { found.append(.init(path: Path(keys: keys), value: .priority(priority))) }
    for key in pending.children.keys.sorted() {
      if let child = pending.children[key] { collect(child, at: keys + [key], into: &found) }
    }
  }

  private static func leafCount(_ pending: PendingNode) -> Int {
    if let node = pending.node { return max(1, node.node.leafCount) }
    return pending.children.values.reduce(pending.priority == nil ? 0 : 1) { $0 + leafCount($1) }
  }
}

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

  /// The places that the server is to fill in each child, as seen from there.
  var slotsOfChildren: [Key: [Slot]] {
    var found: [Key: [Slot]] = [:]
    for slot in slots {
      guard let child = slot.path.keys.first else { continue }
      let path = Path(keys: Array(slot.path.keys.dropFirst()))
      found[child, default: []].append(Slot(path: path, isPriority: slot.isPriority, value: slot.value))
    }
    return found
  }
}
