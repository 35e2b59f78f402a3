/// Where a child stands in a query's order: enough to keep a window without keeping its children.
public struct QueryPlace: Sendable {
  let rank: OrderRank
  /// The child.
  public let key: Key
}

extension Query {
  /// The place of a child; nil if it is absent or outside the bounds. The limit is not looked at.
  public func place(of key: Key, in child: TreeNode) -> QueryPlace? {
    guard child.exists else { return nil }
    return admitted(QueryPlace(rank: order.rank(of: child), key: key))
  }

  /// The place of a child that exists, of which only what orders it is known.
  ///
  /// - Parameter node: in order of a child path the node there, in order of value the child itself, in order of priority the
  ///   priority as a leaf; in key order nothing is looked at. Of a map any one leaf is enough.
  public func place(of key: Key, orderedBy node: TreeNode) -> QueryPlace? {
    admitted(QueryPlace(rank: order == .key ? .null : OrderRank(node), key: key))
  }

  /// The places of a node's children, from the first of the window on, whatever the limit; in the window's direction: with a
  /// limit from the end, the last child comes first.
  public func places(in node: TreeNode) -> [QueryPlace] {
    let places = node.children.compactMap { place(of: $0.key, in: $0.node) }
    return places.sorted(by: leads)
  }

  /// Whether `a` comes before `b` in the window's direction.
  public func leads(_ a: QueryPlace, _ b: QueryPlace) -> Bool {
    if case .last = limit { precedes(b, a) } else { precedes(a, b) }
  }

  private func precedes(_ a: QueryPlace, _ b: QueryPlace) -> Bool {
    a.rank == b.rank ? a.key < b.key : a.rank < b.rank
  }

  private func admitted(_ place: QueryPlace) -> QueryPlace? {
    admits(place.rank, place.key) ? place : nil
  }
}
