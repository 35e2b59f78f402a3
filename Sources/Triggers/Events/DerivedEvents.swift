import StorageCore
import TreeModel

/// The events of a commit, from the log: the same as the write would have made, whatever was registered then.
///
/// An event is a path and a revision, so that a function which was deployed later finds, in the commits of years before,
/// events with the ids that they would have had.
struct DerivedEvents {
  let table: TriggerTable
  private let participant: EventParticipant
  private let hopsMax: Int

  init(table: TriggerTable, limits: WriteLimits) {
    self.table = table
    participant = EventParticipant(table: table, limits: limits)
    hopsMax = limits.hopsMax
  }

  /// The events with the functions that want them, in path order.
  ///
  /// None for a commit that suppressed triggers, unless that is asked for, or that is at the end of a chain that is
  /// too long.
  ///
  /// - `functions`: which functions count, by position.
  func events(
    of commit: CommitRecord, for functions: Set<Int>, includingSuppressed takesSuppressed: Bool, in snapshot: any Snapshot
  ) throws(StorageError) -> [(event: EventRecord, functions: [Int])] {
    let hop = commit.cause?.hop ?? 0
    guard let changes = commit.changes, takesSuppressed || !commit.suppressesTriggers, hop <= hopsMax else { return [] }
    var found: [(event: EventRecord, functions: [Int])] = []
    for place in participant.matchedPaths(changes) where place.functions.contains(where: functions.contains) {
      // What an erasure has removed in part is not known any more.
      guard !commit.hasForgotten(place.path) else { continue }
      let hasUnchanged = try hasUnchanged(place, changes: changes, after: commit, in: snapshot)
      guard let kind = place.kind(hasUnchanged: hasUnchanged) else { continue }
      let wanting = place.functions.filter {
        functions.contains($0) && table.wants($0, kind: kind, before: place.exact?.before, after: place.exact?.after)
      }
      guard !wanting.isEmpty else { continue }
      let id = EventID(epoch: commit.epoch, revision: commit.revision, path: place.path)
      found.append((EventRecord(namespace: commit.namespace, id: id, kind: kind, hop: hop), wanting.sorted()))
    }
    return found
  }

  /// Whether a leaf below the path was there before the commit and after it: among one more leaf than were changed there is
  /// one that was not, if there is any.
  private func hasUnchanged(
    _ place: MatchedPath, changes: [LeafChange], after commit: CommitRecord, in snapshot: any Snapshot
  ) throws(StorageError) -> Bool {
    guard place.mayHaveUnchanged else { return false }
    let leaves = try snapshot.leaves(
      in: commit.namespace, under: place.path, asOf: commit.revision, limit: changes.count + 1)
    return leaves.contains { changes.change(at: $0.leaf.path) == nil }
  }
}

/// A path that some pattern matched, and what a commit did there and below.
struct MatchedPath {
  let path: PathBytes
  /// The functions whose pattern matched.
  var functions: [Int] = []
  /// The change of the leaf at exactly this path.
  var exact: LeafChange?
  /// The changes at and below the path, priorities included: a range of the commit's changes, which are sorted.
  var changes: Range<Int>
  /// Whether any changed leaf at or below the path was there before, and is there after.
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

  /// What happened at the path; nil if nothing that a trigger knows (a path that was absent before and after).
  ///
  /// - Parameter hasUnchanged: whether a leaf below the path was there before and is still there.
  func kind(hasUnchanged: Bool) -> EventRecord.Kind? {
    switch (hadLeaf || hasUnchanged, hasLeaf || hasUnchanged) {
    case (false, true): .created
    case (true, true): .updated
    case (true, false): .deleted
    case (false, false): nil
    }
  }

  /// Whether leaves that did not change may lie below: not where a leaf was, or is, at the path itself.
  var mayHaveUnchanged: Bool { exact == nil }
}
