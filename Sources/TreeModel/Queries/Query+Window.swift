/// Where a child is in a query's order: enough to keep a window without keeping its children.
public struct QueryPosition: Sendable {
  let rank: OrderRank
  /// The child.
  public let key: Key
}

extension Query {
  /// The place of a child; nil if it is absent or outside the bounds. The limit is not looked at.
  public func position(of key: Key, in child: TreeNode) -> QueryPosition? {
    guard child.exists else { return nil }
    return admitted(QueryPosition(rank: order.rank(of: child), key: key))
  }

  /// The place of a child that exists, of which only what orders it is known.
  ///
  /// - `node`: in order of a child path the node there, in order of value the child itself, in order of priority the
  ///   priority as a leaf; in key order nothing is looked at. Of a map any one leaf is enough.
  public func position(of key: Key, orderedBy node: TreeNode) -> QueryPosition? {
    admitted(QueryPosition(rank: order == .key ? .null : OrderRank(node), key: key))
  }

  /// The places of a node's children, from the first of the window on, whatever the limit; in the window's direction: with a
  /// limit from the end, the last child comes first.
  public func positions(in node: TreeNode) -> [QueryPosition] {
    let positions = node.children.compactMap { position(of: $0.key, in: $0.node) }
    return positions.sorted(by: leads)
  }

  /// Whether `a` comes before `b` in the window's direction.
  public func leads(_ a: QueryPosition, _ b: QueryPosition) -> Bool {
    if case .last = limit { precedes(b, a) } else { precedes(a, b) }
  }

  private func precedes(_ a: QueryPosition, _ b: QueryPosition) -> Bool {
    a.rank == b.rank ? a.key < b.key : a.rank < b.rank
  }

  private func admitted(_ position: QueryPosition) -> QueryPosition? {
    admits(position.rank, key: position.key) ? position : nil
  }
}

extension Query {
  /// The places of an index among which the window's children are: from `lower` up to but without `upper`.
  ///
  /// The range may have more children than the bounds admit, at its ends, where ranks are shared or a bound's key is none
  /// that the tree can hold; it never has fewer.
  public var indexRange: (lower: IndexEntry, upper: IndexEntry) {
    (start.map(Self.lower) ?? IndexEntry(bytes: []), end.map(Self.upper) ?? IndexEntry(bytes: Self.afterAll))
  }

  /// Behind every key, and behind every rank (``PathBytes/afterAll``).
  private static let afterAll: [UInt8] = PathBytes.afterAll.bytes

  private static func lower(_ bound: QueryBound) -> IndexEntry {
    let rank = IndexRank(bound.value)
    if rank.isShared { return IndexEntry(bytes: rank.bytes) }
    if bound.edge == .max { return IndexEntry(bytes: rank.bytes + afterAll) }
    guard let key = bound.edge.storable else { return IndexEntry(bytes: rank.bytes) }
    return IndexEntry(bytes: IndexEntry(rank, key).bytes + (bound.isInclusive ? [] : [0]))
  }

  private static func upper(_ bound: QueryBound) -> IndexEntry {
    let rank = IndexRank(bound.value)
    if rank.isShared { return IndexEntry(bytes: rank.bytes + afterAll) }
    if bound.edge == .min { return IndexEntry(bytes: rank.bytes) }
    guard let key = bound.edge.storable else { return IndexEntry(bytes: rank.bytes + afterAll) }
    return IndexEntry(bytes: IndexEntry(rank, key).bytes + (bound.isInclusive ? [0] : []))
  }
}

/// Picks a query's window out of children that are shown one after the other, and holds little more than the window.
///
/// For children that do not come in the query's order: a node of a million children is searched for its first ten with
/// less than a hundred in memory.
public struct WindowCollector {
  private let query: Query
  private var entries: [TreeMap.Entry] = []
  /// How many may gather before those that cannot be in the window are let go; nil if all stay.
  private let gatheringMax: Int?
  /// How many leaves the children hold that gathered so far.
  public private(set) var leafCount = 0

  /// An empty collection for one query.
  public init(_ query: Query) {
    self.query = query
    switch query.limit {
    case nil: gatheringMax = nil
    case .first(let count), .last(let count): gatheringMax = 2 * min(max(0, count), Int.max / 4) + 64
    }
  }

  /// How many children gathered; those that a limit will leave out may be among them.
  public var count: Int { entries.count }

  /// Shows a child; each must be shown once.
  ///
  /// - Returns: whether it lies within the query's bounds.
  @discardableResult
  public mutating func add(_ entry: TreeMap.Entry) -> Bool {
    guard query.admits(entry) else { return false }
    entries.append(entry)
    leafCount += entry.node.leafCount
    if let gatheringMax, entries.count > gatheringMax { trim() }
    return true
  }

  /// Lets go of what cannot be in the window.
  public mutating func trim() {
    guard gatheringMax != nil else { return }
    entries = query.window(of: .map(TreeMap(entries)))
    leafCount = entries.reduce(0) { $0 + $1.node.leafCount }
  }

  /// The window as a node, as ``Query/result(of:)`` gives it.
  public func result() -> TreeNode {
    // Every one of them is within the bounds: unless there are more than the limit takes, they are the window.
    switch query.limit {
    case .first(let count)? where entries.count > count: break
    case .last(let count)? where entries.count > count: break
    default: return .map(TreeMap(entries))
    }
    return query.result(of: .map(TreeMap(entries)))
  }
}
