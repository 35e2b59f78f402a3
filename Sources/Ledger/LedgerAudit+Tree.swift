import RewardModel
import StorageCore
import TreeModel

extension LedgerAudit {
  /// Compares the balances in the tree with the entries, both ways: a place without entries, entries without a place.
  ///
  /// Places are found by walking the patterns, one seek for each child on the way: what lies beside them is not read.
  mutating func checkTree() throws(StorageError) {
    var missing = balances.filter { currencies.isHolder($0.key.account) }
    for place in currencies.places {
      try walk(place.currency.pattern.segments[...], from: .root, &missing)
    }
    for (purse, sum) in missing.sorted(by: { $0.key.account.name < $1.key.account.name }) where sum != 0 {
      noteTree(purse, "nothing stands in the tree", sum: sum)
    }
  }

  private mutating func walk(_ segments: ArraySlice<PathPattern.Segment>, from path: PathBytes, _ missing: inout [Purse: Int64])
    throws(StorageError)
  {
    guard let segment = segments.first else { return try compare(path, &missing) }
    if case .literal(let key) = segment { return try walk(segments.dropFirst(), from: path.child(key), &missing) }
    var last: Key?
    while true {
      let keys = try snapshot.children(in: namespace, of: path, after: last, limit: Self.pageSize)
      for key in keys { try walk(segments.dropFirst(), from: path.child(key), &missing) }
      if keys.count < Self.pageSize { return }
      last = keys.last
    }
  }

  private mutating func compare(_ path: PathBytes, _ missing: inout [Purse: Int64]) throws(StorageError) {
    guard let first = try snapshot.leaves(in: namespace, under: path, limit: 1).first?.leaf,
      let purse = currencies.purse(at: path)
    else { return }
    let sum = missing.removeValue(forKey: purse) ?? 0
    guard first.path == path, let balance = first.scalar.intValue else {
      let found = first.path == path ? first.scalar.kindName : "an object"
      report.note(.init(path: path.path?.description ?? "?", account: purse.account, unit: purse.unit, found: found))
      if sum != 0 { noteTree(purse, "the tree has \(found), which counts as 0,", sum: sum) }
      return
    }
    if balance != sum { noteTree(purse, "the tree has \(balance)", sum: sum) }
  }

  private mutating func noteTree(_ purse: Purse, _ found: String, sum: Int64) {
    report.note(
      .init(
        .tree, account: purse.account,
        message: "For \(purse.account) in \(purse.unit) \(found); the entries sum to \(sum)."))
  }
}
