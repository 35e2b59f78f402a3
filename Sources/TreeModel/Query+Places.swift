extension Query {
  /// The places of an index among which the window's children are: from `lower` up to but without `upper`.
  ///
  /// The range may have more children than the bounds admit, at its ends, where ranks are shared or a bound's key is none
  /// that the tree can hold; it never has fewer.
  public var places: (lower: IndexPlace, upper: IndexPlace) {
    (start.map(Self.lower) ?? IndexPlace(bytes: []), end.map(Self.upper) ?? IndexPlace(bytes: Self.afterAll))
  }

  /// Behind every key, and behind every rank (``PathBytes/afterAll``).
  private static let afterAll: [UInt8] = PathBytes.afterAll.bytes

  private static func lower(_ bound: QueryBound) -> IndexPlace {
    let rank = IndexRank(bound.value)
    if rank.isShared { return IndexPlace(bytes: rank.bytes) }
    if bound.edge == .max { return IndexPlace(bytes: rank.bytes + afterAll) }
    guard let key = bound.edge.storable else { return IndexPlace(bytes: rank.bytes) }
    return IndexPlace(bytes: IndexPlace(rank, key).bytes + (bound.isInclusive ? [] : [0]))
  }

  private static func upper(_ bound: QueryBound) -> IndexPlace {
    let rank = IndexRank(bound.value)
    if rank.isShared { return IndexPlace(bytes: rank.bytes + afterAll) }
    if bound.edge == .min { return IndexPlace(bytes: rank.bytes) }
    guard let key = bound.edge.storable else { return IndexPlace(bytes: rank.bytes + afterAll) }
    return IndexPlace(bytes: IndexPlace(rank, key).bytes + (bound.isInclusive ? [0] : []))
  }
}
