/// One leaf (or one priority) before and after a commit; nil means that it is not there.
///
/// Every write is reduced to a list of these, sorted by path: what a commit records, what undoing it needs, and what
/// triggers and listeners compare.
public struct LeafChange: Sendable, Hashable {
  /// The place of the leaf or of the priority.
  public let path: PathBytes
  /// The value there before.
  public let before: Scalar?
  /// The value there now.
  public let after: Scalar?

  /// A change of one leaf or priority.
  public init(path: PathBytes, before: Scalar?, after: Scalar?) {
    self.path = path
    self.before = before
    self.after = after
  }
}

/// A stored leaf or priority.
public struct Leaf: Sendable, Hashable {
  /// The place of the leaf or of the priority.
  public let path: PathBytes
  /// The value or the priority.
  public let scalar: Scalar

  /// A stored leaf or priority.
  public init(path: PathBytes, scalar: Scalar) {
    self.path = path
    self.scalar = scalar
  }

  /// Bytes of its path and value, about.
  public var bytes: Int { path.bytes.count + (scalar.stringValue?.utf8.count ?? 8) }
}

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
    while levels.count > 1, !sharesPrefix(bytes, count: levels[levels.count - 1].end) { pop() }
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

  private func sharesPrefix(_ bytes: [UInt8], count: Int) -> Bool {
    guard bytes.count >= count, path.count >= count else { return false }
    return bytes[..<count] == path[..<count]
  }

  private mutating func pop() {
    let level = levels.removeLast()
    let node = level.node
    if node.exists { levels[levels.count - 1].children.append(TreeMap.Entry(key: level.key, node: node)) }
  }
}

/// The sparse difference that Firebase's event bodies carry beside the value before (firebase-functions, `DatabaseEvent`).
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
