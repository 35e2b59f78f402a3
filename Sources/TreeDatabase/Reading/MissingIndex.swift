public import TreeModel

/// A query that the rules have no index for (spec: rtdb-protocol §2, 400 messages).
public struct MissingIndex: Error, Sendable, Hashable {
  /// By what the children would have to be indexed.
  public let order: NodeOrder
  /// The node whose children are asked for.
  public let path: Path

  public init(order: NodeOrder, path: Path) {
    self.order = order
    self.path = path
  }

  /// The hosted service's own words, which developers look for.
  public var message: String {
    "Index not defined, add \".indexOn\": \"\(order.indexName)\", for path \"\(path)\", to the rules"
  }
}
