package import TreeModel

/// A part of a node, by its place in the order of all places, and what stands there now: what a server sends to a client that
/// knows the rest.
package struct RangeMerge: Sendable, Hashable {
  /// The range begins behind this place, relative to the node; nil: with its first.
  package let after: Path?
  /// The last place of the range, relative to the node; nil: its last.
  package let through: Path?
  /// What is in the range now, with the keys on the way to it.
  package let node: TreeNode

  /// A part and what stands there now.
  package init(after: Path?, through: Path?, node: TreeNode) {
    self.after = after
    self.through = through
    self.node = node
  }

  /// The node with the range replaced.
  func applied(to old: TreeNode) -> TreeNode { merged(old, with: node, at: .root) }

  private func merged(_ old: TreeNode, with new: TreeNode, at path: Path) -> TreeNode {
    let isBehindStart = after.map { Self.isEarlier($0, than: path) } ?? true
    let endsBelow = through.map { $0 != path && path.contains($0) } ?? false
    let isBeforeEnd = through.map { $0 == path || Self.isEarlier(path, than: $0) } ?? true
    if isBehindStart, isBeforeEnd, !endsBelow {
      // The range's last place is a leaf; what is below a node of that name is behind it.
      return through == path && old.scalar == nil && new.scalar == nil ? old : new
    }
    if isBehindStart, endsBelow, new.scalar != nil { return new }
    let startsHere = after.map { path.contains($0) } ?? false
    guard startsHere || endsBelow else { return old }
    let keys = Set(old.children.map(\.key)).union(new.children.map(\.key))
    let children = TreeMap(keys.map { TreeMap.Entry(key: $0, node: merged(old[$0], with: new[$0], at: path.child($0))) })
    let result = children.isEmpty && old.scalar != nil ? old : TreeNode.map(children, priority: old.priority)
    // A priority stands behind the children that are numbers, before all others.
    let priority = path.child(Key(unchecked: ".priority"))
    guard isAffected(priority), result.exists else { return result }
    return TreeNode(result.content, priority: new.priority)
  }

  private func isAffected(_ path: Path) -> Bool {
    (after.map { Self.isEarlier($0, than: path) } ?? true)
      && (through.map { $0 == path || Self.isEarlier(path, than: $0) } ?? true)
  }

  /// The order of places: a node before what is in it, keys by their order.
  private static func isEarlier(_ a: Path, than b: Path) -> Bool {
    for (x, y) in zip(a.keys, b.keys) where x != y { return x < y }
    return a.depth < b.depth
  }
}
