public import TreeModel

/// A query's window, and whether the rules know the order that it asks for.
public struct QueryResult: Sendable {
  /// The children in the window, without the node's priority; absent if there are none (``Query/result(of:)``).
  public let node: TreeNode
  /// Whether the order needs no index, or has one by the rules. Where it has none, REST and `get` refuse, and a listen
  /// warns with `no_index` and answers (spec: rtdb-protocol §2, 400 messages; §3.4).
  public let isIndexed: Bool

  public init(node: TreeNode, isIndexed: Bool) {
    self.node = node
    self.isIndexed = isIndexed
  }
}
