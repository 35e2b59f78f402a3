extension TreeNode {
  /// The node's leaves and priorities, in path order, when it stands at `path`.
  public func leaves(at path: PathBytes) -> [Leaf] {
    var leaves: [Leaf] = []
    appendLeaves(at: path, to: &leaves)
    return leaves
  }

  private func appendLeaves(at path: PathBytes, to leaves: inout [Leaf]) {
    switch content {
    case .absent: return
    case .leaf(let scalar):
      leaves.append(Leaf(path: path, scalar: scalar))
      if let priority { leaves.append(Leaf(path: path.priority, scalar: priority)) }
    case .map(let map):
      if let priority { leaves.append(Leaf(path: path.priority, scalar: priority)) }
      for entry in map { entry.node.appendLeaves(at: path.child(entry.key), to: &leaves) }
    }
  }

  /// Builds the node at `path` from leaves in path order that all lie in its subtree.
  ///
  /// - Returns: nil if a path cannot be read, which means that the file it came from is damaged.
  public init?(leaves: some Collection<Leaf>, at path: PathBytes) {
    var builder = TreeBuilder(depth: path.bytes.count)
    for leaf in leaves {
      guard builder.add(leaf) else { return nil }
    }
    self = builder.finish()
  }
}

/// Puts leaves that come in path order together into a node, without looking back.
struct TreeBuilder {
  private struct Level {
    var key: Key
    var end: Int
    var scalar: Scalar?
    var priority: Scalar?
    var children: [TreeMap.Entry] = []

    var node: TreeNode {
      if !children.isEmpty { return .map(TreeMap(sorted: children), priority: priority) }
      if let scalar { return .leaf(scalar, priority: priority) }
      return .absent
    }
  }

  private var levels: [Level]
  private var path: [UInt8] = []

  /// `depth`: the length of the root's path bytes; every leaf begins with them.
  init(depth: Int) {
    levels = [Level(key: Key(unchecked: ""), end: depth)]
  }

  mutating func add(_ leaf: Leaf) -> Bool {
    let bytes = leaf.path.bytes
    while levels.count > 1, !sharesPrefix(bytes, levels[levels.count - 1].end) { pop() }
    var at = levels[levels.count - 1].end
    while at < bytes.count, bytes[at] != PathBytes.priorityMark {
      guard let (key, next) = leaf.path.key(at: at) else { return false }
      levels.append(Level(key: key, end: next))
      at = next
    }
    if leaf.path.isPriority {
      levels[levels.count - 1].priority = leaf.scalar
    } else {
      levels[levels.count - 1].scalar = leaf.scalar
    }
    path = bytes
    return true
  }

  mutating func finish() -> TreeNode {
    while levels.count > 1 { pop() }
    return levels[0].node
  }

  private func sharesPrefix(_ bytes: [UInt8], _ count: Int) -> Bool {
    guard bytes.count >= count, path.count >= count else { return false }
    return bytes[..<count] == path[..<count]
  }

  private mutating func pop() {
    let level = levels.removeLast()
    let node = level.node
    if node.exists { levels[levels.count - 1].children.append(TreeMap.Entry(key: level.key, node: node)) }
  }
}
