extension TreeNode {
  /// A copy in which the node at `path` is replaced, value and priority (spec: rtdb-protocol §1).
  ///
  /// Where a leaf stands above the place it becomes a map and keeps its priority; maps that lose their last child vanish,
  /// and their priorities with them. Deleting what is absent changes nothing.
  public func setting(_ path: Path, to node: TreeNode) -> TreeNode {
    replacing(path.keys[...]) { _ in node }
  }

  /// A copy in which only the priority of the node at `path` is replaced; nil clears it.
  ///
  /// - Returns: nil if no node is there: absence has no priority, and the write must fail.
  public func settingPriority(_ path: Path, to priority: Scalar?) -> TreeNode? {
    guard self[path].exists else { return nil }
    return replacing(path.keys[...]) { TreeNode($0.content, priority: priority) }
  }

  private func replacing(_ keys: ArraySlice<TreeModel.Key>, _ change: (TreeNode) -> TreeNode) -> TreeNode {
    guard let key = keys.first else { return change(self) }
    let child = self[key].replacing(keys.dropFirst(), change)
    if !child.exists, !self[key].exists { return self }
    return .map(children.setting(key, to: child), priority: priority)
  }
}
