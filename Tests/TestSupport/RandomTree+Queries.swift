public import TreeModel

extension RandomTree {
  /// Beginnings that are too long for an index to tell the strings apart.
  private static let longStrings = ["a", "b", ""].map { String(repeating: "long", count: 64) + $0 }

  /// Keys that are found in bounds only: no child can have them.
  private static let madeUpKeys = ["", "\u{0}", "a/b", "x.y", "\u{1}", "a\u{0}", "$"]

  /// A value for leaves that queries order by.
  public mutating func ranked() -> Scalar {
    chance(6) ? .string(pick(Self.longStrings)) : scalar()
  }

  /// A query whose bounds meet the values of ``scalar()`` and the keys of ``key()`` now and then.
  public mutating func query(_ order: NodeOrder) -> Query {
    var query = Query(order: order)
    if !chance(3) { query.start = bound(order) }
    if !chance(3) { query.end = bound(order) }
    switch Int.random(in: 0..<4, using: &random) {
    case 0, 1: query.limit = .first(Int.random(in: 1...5, using: &random))
    case 2: query.limit = .last(Int.random(in: 1...5, using: &random))
    default: break
    }
    return query
  }

  private mutating func bound(_ order: NodeOrder) -> QueryBound {
    let edge: QueryBound.Edge =
      switch Int.random(in: 0..<6, using: &random) {
      case 0: .min
      case 1: .max
      case 2: .key(Key(unchecked: pick(Self.madeUpKeys)))
      default: .key(key())
      }
    return QueryBound(value: order == .key || chance(8) ? nil : ranked(), edge: edge, isInclusive: chance(2))
  }

  /// A child that has something to be ordered by, at `a` and at `b/c`, more often than not.
  public mutating func orderable() -> TreeNode {
    if chance(5) { return .leaf(ranked(), priority: priority()) }
    var entries: [TreeMap.Entry] = [TreeMap.Entry(key: Key(unchecked: "name"), node: .leaf(scalar()))]
    if !chance(3) { entries.append(TreeMap.Entry(key: Key(unchecked: "a"), node: chance(6) ? ["x": 1] : .leaf(ranked()))) }
    if !chance(3) {
      let deep: TreeNode = ["c": .leaf(ranked(), priority: priority())]
      entries.append(TreeMap.Entry(key: Key(unchecked: "b"), node: chance(5) ? .leaf(ranked()) : deep))
    }
    return .map(TreeMap(entries), priority: priority())
  }
}
