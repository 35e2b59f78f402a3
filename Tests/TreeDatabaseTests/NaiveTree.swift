import TreeModel

/// The tree as anyone would write it down: a value that is rebuilt for every write. What the pipeline is compared with.
struct NaiveTree {
  var root = TreeNode.absent

  mutating func set(_ path: Path, to node: TreeNode) {
    root = Self.setting(root, path.keys[...], to: node)
  }

  /// - Returns: false if there is nothing that could have a priority.
  mutating func setPriority(_ path: Path, to priority: Scalar?) -> Bool {
    let node = root[path]
    guard node.exists else { return false }
    set(path, to: TreeNode(node.content, priority: priority))
    return true
  }

  private static func setting(_ node: TreeNode, _ keys: ArraySlice<TreeModel.Key>, to value: TreeNode) -> TreeNode {
    guard let key = keys.first else { return value }
    let child = setting(node[key], keys.dropFirst(), to: value)
    // Below a leaf there is nothing to remove; something new turns the leaf into a map, and its priority stays.
    if case .leaf = node.content, !child.exists { return node }
    return .map(node.children.setting(key, to: child), priority: node.priority)
  }
}
