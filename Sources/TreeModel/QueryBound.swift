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

  func admitsAfter(_ rank: OrderRank, _ key: Key, in order: NodeOrder) -> Bool {
    let place = compare(rank, key, in: order)
    return place > 0 || (place == 0 && isInclusive)
  }

  func admitsBefore(_ rank: OrderRank, _ key: Key, in order: NodeOrder) -> Bool {
    let place = compare(rank, key, in: order)
    return place < 0 || (place == 0 && isInclusive)
  }

  /// Where a child stands to the bound: negative before it, zero at it, positive behind it.
  private func compare(_ rank: OrderRank, _ key: Key, in order: NodeOrder) -> Int {
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
