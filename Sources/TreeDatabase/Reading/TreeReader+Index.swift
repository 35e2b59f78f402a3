import StorageCore
import TreeModel

extension TreeReader {
  /// The index of an order at a path, if the snapshot has it whole.
  func readyIndex(_ order: NodeOrder, at path: Path, in namespace: NamespaceID, _ snapshot: any Snapshot)
    throws(TreeReadError) -> IndexID?
  {
    guard let index = catalog.rules(of: namespace)?.index(order, at: path) else { return nil }
    let record = try reading { () throws(StorageError) in try snapshot.index(in: namespace, id: index.id) }
    return record?.state == .ready ? index.id : nil
  }

  /// A window from an index: places from the end that the limit counts from, and the children that stand there.
  func indexedWindow(_ query: Query, _ index: IndexID, _ scan: ChildScan, _ meter: inout ReadMeter) throws(TreeReadError)
    -> TreeNode
  {
    var (lower, upper) = query.places
    let (wanted, isDescending) =
      switch query.limit {
      case nil: (Int.max, false)
      case .first(let count): (count, false)
      case .last(let count): (count, true)
      }
    guard wanted > 0 else { return .absent }
    var window = WindowCollector(query)
    // Children of one shared rank come in the order of their keys: all are needed to find those with the first values.
    var sharedRank: IndexRank?
    let chunk = min(wanted, 512) + 1
    while lower < upper {
      let places = try reading { () throws(StorageError) in
        try scan.snapshot.places(
          in: scan.namespace, of: index, below: scan.parent, from: lower, to: upper, isDescending: isDescending, limit: chunk)
      }
      try meter.visit(rows: places.count, bytes: 0)
      for place in places {
        guard let (rank, key) = place.parts else { throw .storage(.unreadablePlace) }
        if window.count >= wanted, rank != sharedRank { return window.result() }
        guard let entry = try scan.entry(at: scan.parent.child(key), &meter) else { throw .storage(.unreadablePlace) }
        window.add(entry)
        if window.leafCount > meter.leavesMax { window.trim() }
        try meter.check(leaves: window.leafCount)
        sharedRank = rank.isShared ? rank : nil
      }
      guard places.count == chunk, let last = places.last else { break }
      if isDescending { upper = last } else { lower = IndexPlace(bytes: last.bytes + [0]) }
    }
    return window.result()
  }
}

extension StorageError {
  static let unreadablePlace = StorageError(
    .damaged,
    "An index is not what the tree is: upload the rules without its .indexOn, then with it, and it is built anew.")
}
