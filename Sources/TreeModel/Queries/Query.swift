/// A window over a node's children: an order, bounds on it, and a limit (firebase-js-sdk, `core/view/QueryParams.ts`).
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
    admits(order.rank(of: entry.node), key: entry.key)
  }

  func admits(_ rank: OrderRank, key: Key) -> Bool {
    if let start, !start.admitsAfter(rank, key: key, in: order) { return false }
    if let end, !end.admitsBefore(rank, key: key, in: order) { return false }
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
      if admits(rank, key: entry.key) { ranked.append((rank, entry)) }
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

/// One end of a ``Query``'s window: a pair of value and key; the key decides between children of equal value.
public struct QueryBound: Sendable, Hashable {
  /// The key part of a bound.
  public enum Edge: Sendable, Hashable {
    /// Below every key; `[MIN_NAME]` on the wire.
    case min
    /// A key.
    case key(Key)
    /// Above every key; `[MAX_NAME]` on the wire.
    case max

    /// Reads a key as clients write it, the two names for the extremes included.
    public init(_ name: String) {
      self =
        switch name {
        case "[MIN_NAME]": .min
        case "[MAX_NAME]": .max
        default: .key(Key(unchecked: name))
        }
    }

    /// A key that the tree can hold, whose binary form therefore sorts among those of the children; nil for the two
    /// extremes, and for what a client made up.
    public var storable: Key? {
      if case .key(let key) = self, (try? Key(key.text)) != nil { key } else { nil }
    }

    /// The key as clients write it.
    var name: String {
      switch self {
      case .min: "[MIN_NAME]"
      case .max: "[MAX_NAME]"
      case .key(let key): key.text
      }
    }
  }

  /// The value; nil is null, which lies below all values. Not looked at in key order.
  public let value: Scalar?
  /// The key.
  public let edge: Edge
  /// Whether a child that equals the bound is inside the window.
  public let isInclusive: Bool

  /// A bound with all its parts.
  public init(value: Scalar?, edge: Edge, isInclusive: Bool) {
    self.value = value
    self.edge = edge
    self.isInclusive = isInclusive
  }

  /// The bound of `startAt` (inclusive) or `startAfter` on a value, and on a key among children of that value.
  public static func start(_ value: Scalar?, key: Key? = nil, isInclusive: Bool = true) -> QueryBound {
    // Without a key, startAt begins before all children of the value and startAfter behind all of them.
    QueryBound(value: value, edge: key.map(Edge.key) ?? (isInclusive ? .min : .max), isInclusive: isInclusive)
  }

  /// The bound of `endAt` (inclusive) or `endBefore` on a value, and on a key among children of that value.
  public static func end(_ value: Scalar?, key: Key? = nil, isInclusive: Bool = true) -> QueryBound {
    QueryBound(value: value, edge: key.map(Edge.key) ?? (isInclusive ? .max : .min), isInclusive: isInclusive)
  }

  /// A bound in key order.
  public static func key(_ key: Key, isInclusive: Bool = true) -> QueryBound {
    QueryBound(value: nil, edge: .key(key), isInclusive: isInclusive)
  }

  func admitsAfter(_ rank: OrderRank, key: Key, in order: NodeOrder) -> Bool {
    let comparison = compare(rank, key: key, in: order)
    return comparison > 0 || (comparison == 0 && isInclusive)
  }

  func admitsBefore(_ rank: OrderRank, key: Key, in order: NodeOrder) -> Bool {
    let comparison = compare(rank, key: key, in: order)
    return comparison < 0 || (comparison == 0 && isInclusive)
  }

  /// Where a child is to the bound: negative before it, zero at it, positive behind it.
  private func compare(_ rank: OrderRank, key: Key, in order: NodeOrder) -> Int {
    if order != .key {
      let bound = OrderRank(value)
      if rank != bound { return rank < bound ? -1 : 1 }
    }
    switch edge {
    case .min: return 1
    case .max: return -1
    case .key(let other): return key == other ? 0 : key < other ? -1 : 1
    }
  }
}

/// Why a query object is not a query.
public struct QueryError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Code: Sendable, Hashable {
    /// The query is no JSON object.
    case notAnObject
    /// The index is neither `.key`, `.value`, `.priority` nor a legal path.
    case illegalIndex
    /// A bound is no string, number, boolean or null.
    case illegalBound
    /// A bound in key order is no string.
    case illegalKeyBound
    /// The limit is no positive integer, or its side neither `l` nor `r`.
    case illegalLimit
  }

  /// What is wrong.
  public let code: Code

  /// A fault of a query.
  public init(_ code: Code) {
    self.code = code
  }

  /// A sentence for the client.
  public var description: String {
    switch code {
    case .notAnObject: "Invalid query: it must be a JSON object."
    case .illegalIndex: "Invalid query: the index must be .key, .value, .priority or the path of a child."
    case .illegalBound: "Invalid query: a bound must be a string, a number, a boolean or null, and its key a string."
    case .illegalKeyBound: "Invalid query: in key order a bound must be a key, as a string."
    case .illegalLimit: "Invalid query: a limit must be a positive integer, counted from l or r."
    }
  }
}
