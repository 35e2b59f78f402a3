import TreeModel

extension LeafChange {
  /// What makes one list of leaves the other; both are in path order.
  static func between(_ before: [Leaf], _ after: [Leaf]) -> [LeafChange] {
    var changes: [LeafChange] = []
    var (old, new) = (before[...], after[...])
    while let path = [old.first?.path, new.first?.path].compactMap(\.self).min() {
      let was = old.first?.path == path ? old.popFirst()?.scalar : nil
      let isNow = new.first?.path == path ? new.popFirst()?.scalar : nil
      if was != isNow { changes.append(LeafChange(path: path, before: was, after: isNow)) }
    }
    return changes
  }
}
