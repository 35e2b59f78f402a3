import TreeModel

extension TreeReader {
  /// A window in key order: a range of the tree, read from the end that the limit counts from.
  func keyWindow(_ query: Query, _ scan: ChildScan, _ meter: inout ReadMeter) throws(TreeReadError) -> TreeNode {
    let start = Self.start(query.start, in: scan)
    let end = Self.end(query.end, in: scan)
    var window = WindowCollector(query)
    let leavesMax = meter.leavesMax
    func take(_ entry: TreeMap.Entry, until count: Int) throws(TreeReadError) -> Bool {
      window.add(entry)
      guard window.leafCount <= leavesMax else { throw .tooLarge }
      return window.count < count
    }
    switch query.limit {
    case .last(let count):
      guard count > 0 else { return .absent }
      try scan.descending(from: start, to: end, &meter) { (entry) throws(TreeReadError) in try take(entry, until: count) }
    case .first(let count):
      guard count > 0 else { return .absent }
      try scan.ascending(from: start, to: end, &meter) { (entry) throws(TreeReadError) in try take(entry, until: count) }
    case nil:
      try scan.ascending(from: start, to: end, &meter) { (entry) throws(TreeReadError) in try take(entry, until: .max) }
    }
    return window.result()
  }

  /// Where the children begin that a bound admits. A key that no child can have says nothing about places; the window
  /// leaves out then what the range has too much.
  private static func start(_ bound: QueryBound?, in scan: ChildScan) -> PathBytes {
    guard let bound else { return scan.parent.firstChild }
    if bound.edge == .max { return scan.end }
    guard let key = bound.edge.storable else { return scan.parent.firstChild }
    let child = scan.parent.child(key)
    return bound.isInclusive ? child : child.subtreeEnd ?? scan.end
  }

  /// Behind the children that a bound admits.
  private static func end(_ bound: QueryBound?, in scan: ChildScan) -> PathBytes {
    guard let bound else { return scan.end }
    if bound.edge == .min { return scan.parent.firstChild }
    guard let key = bound.edge.storable else { return scan.end }
    let child = scan.parent.child(key)
    return bound.isInclusive ? child.subtreeEnd ?? scan.end : child
  }
}
