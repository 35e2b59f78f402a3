/// A window over a node's children: an order, bounds on it, and a limit (spec: rtdb-protocol §3.4, query object).
///
/// The query without bounds and limit (``isUnfiltered``) is the whole node in some order.
public struct Query: Sendable, Hashable {
  /// How many children the window holds at most.
  public enum Limit: Sendable, Hashable {
    /// The first ones in order.
    case first(Int)
    /// The last ones in order.
    case last(Int)
  }

  /// The order of the children.
  public var order: NodeOrder
  /// Where the window begins; nil: with the first child.
  public var start: QueryBound?
  /// Where the window ends; nil: with the last child.
  public var end: QueryBound?
  /// How many children it holds at most; a limit of zero or less holds none.
  public var limit: Limit?

  /// A window; by default all children in priority order.
  public init(order: NodeOrder = .priority, start: QueryBound? = nil, end: QueryBound? = nil, limit: Limit? = nil) {
    self.order = order
    self.start = start
    self.end = end
    self.limit = limit
  }

  /// Whether the window is always the whole node.
  public var isUnfiltered: Bool { start == nil && end == nil && limit == nil }

  /// Whether a child lies within the bounds; the limit may still leave it out.
  public func admits(_ entry: TreeMap.Entry) -> Bool {
    admits(order.rank(of: entry.node), entry.key)
  }

  func admits(_ rank: OrderRank, _ key: Key) -> Bool {
    if let start, !start.admitsAfter(rank, key, in: order) { return false }
    if let end, !end.admitsBefore(rank, key, in: order) { return false }
    return true
  }

  /// The children in the window, in the query's order; none of a leaf and of an absent node.
  ///
  /// - Complexity: O(n log n) for n children; in key order O(n).
  public func window(of node: TreeNode) -> [TreeMap.Entry] {
    let entries = node.children
    guard order != .key else { return Array(limited(entries.filter(admits))) }
    var ranked: [(rank: OrderRank, entry: TreeMap.Entry)] = []
    for entry in entries {
      let rank = order.rank(of: entry.node)
      if admits(rank, entry.key) { ranked.append((rank, entry)) }
    }
    // Children come in key order and the sort is stable, so ties are already broken.
    ranked.sort { $0.rank < $1.rank }
    return limited(ranked).map(\.entry)
  }

  /// The window as a node: its children in key order, without the node's priority; absent if the window is empty.
  public func result(of node: TreeNode) -> TreeNode {
    if isUnfiltered { return .map(node.children) }
    return .map(TreeMap(window(of: node)))
  }

  private func limited<Element>(_ elements: [Element]) -> ArraySlice<Element> {
    switch limit {
    case nil: elements[...]
    case .first(let count): elements.prefix(max(0, count))
    case .last(let count): elements.suffix(max(0, count))
    }
  }
}
