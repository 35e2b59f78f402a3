import TreeModel

/// A place in the tree, before or after the operation: what `root`, `data` and `newData` are.
struct RuleSnapshot: Sendable {
  let side: RuleSide
  /// Nil for a place that cannot be: `child('a.b')`. Nothing is there.
  let place: PathBytes?

  /// The place at a relative path as rules write it: superfluous slashes are ignored. An empty path, and one with a key that
  /// the tree cannot hold, lead nowhere (spec: rtdb-protocol §4.3).
  func child(_ text: String) -> RuleSnapshot {
    guard var place else { return self }
    guard let path = try? Path(parsing: text), !path.isRoot else { return RuleSnapshot(side: side, place: nil) }
    for key in path.keys { place = place.child(key) }
    return RuleSnapshot(side: side, place: place)
  }

  /// The place above; nil at the root.
  var parent: RuleSnapshot? {
    guard let place else { return self }
    guard let last = place.keyEnds.dropLast().last ?? (place.bytes.isEmpty ? nil : 0) else { return nil }
    return RuleSnapshot(side: side, place: PathBytes(bytes: Array(place.bytes[..<last])))
  }
}
