import StorageCore
import TreeModel

/// A place that some pattern matched, and what a commit did there and below.
struct MatchedPlace {
  let path: PathBytes
  /// The functions whose pattern matched.
  var functions: [Int] = []
  /// The change of the leaf at exactly this place.
  var exact: LeafChange?
  /// The changes at and below the place, priorities included: a range of the commit's changes, which are sorted.
  var changes: Range<Int>
  /// Whether any changed leaf at or below the place was there before, and is there after.
  var hadLeaf = false
  var hasLeaf = false

  init(path: PathBytes, first: Int) {
    self.path = path
    changes = first..<first
  }

  mutating func note(_ change: LeafChange) {
    if change.path.bytes.count == path.bytes.count { exact = change }
    hadLeaf = hadLeaf || change.before != nil
    hasLeaf = hasLeaf || change.after != nil
  }

  /// What happened at the place; nil if nothing that a trigger knows (a place that was absent before and after).
  ///
  /// - Parameter hasUnchanged: whether a leaf below the place was there before and is still there.
  func kind(hasUnchanged: Bool) -> EventRecord.Kind? {
    switch (hadLeaf || hasUnchanged, hasLeaf || hasUnchanged) {
    case (false, true): .created
    case (true, true): .updated
    case (true, false): .deleted
    case (false, false): nil
    }
  }

  /// Whether leaves that did not change may lie below: not where a leaf stood, or stands, at the place itself.
  var mayHaveUnchanged: Bool { exact == nil }
}
