package import TreeModel

/// The tree as it was, what changed, and which commits touched a path.
package enum AdminHistory {
  package static let state = Endpoint<Query, NoBody, State>(
    .get, "/admin/v1/data", "What stood at a place, as of a revision or a time.", isScoped: true)
  package static let difference = Endpoint<DifferenceQuery, NoBody, Difference>(
    .get, "/admin/v1/data/diff", "What is different at a place and below between two revisions or times.", isScoped: true)
  package static let log = Endpoint<LogQuery, NoBody, Log>(
    .get, "/admin/v1/data/log", "The commits that touched a place or something below it, newest first.", isScoped: true)

  /// How values are shown.
  package enum Format: String, AdminWord, Hashable {
    case plain
    case export
  }

  /// Which state of which path is wanted.
  package struct Query: AdminValue {
    package var path: String
    package var revision: Int64?
    package var time: Timestamp?
    package var format: Format?

    package init(path: String, revision: Int64? = nil, time: Timestamp? = nil, format: Format? = nil) {
      self.path = path
      self.revision = revision
      self.time = time
      self.format = format
    }

    package static let notes: [String: FieldNote] = [
      "path": .path,
      "revision": .text("As of this revision; now if neither is given."),
      "time": .text("As of this time, in milliseconds since 1970."),
      "format": .text("With export, priorities are shown."),
    ]
  }

  /// What was at a path.
  package struct State: AdminValue {
    package var path: String
    /// Whose tree it is.
    package var revision: Int64
    /// Of that revision.
    package var time: Timestamp?
    package var exists: Bool
    package var value: JSON
    /// Places of players who left, of which nothing is known: the first of them.
    package var erased: [AdminEvents.ErasedPath]?

    package init(
      path: String, revision: Int64, time: Timestamp? = nil, exists: Bool, value: JSON, erased: [AdminEvents.ErasedPath]? = nil
    ) {
      self.path = path
      self.revision = revision
      self.time = time
      self.exists = exists
      self.value = value
      self.erased = erased
    }

    package static let notes: [String: FieldNote] = [
      "revision": .text("whose tree it is"),
      "time": .text("of that revision"),
      "erased": .text("places of players who left, of which nothing is known: the first of them"),
    ]
  }

  /// Between which states of a path.
  package struct DifferenceQuery: AdminValue {
    package var path: String
    package var from: Int64?
    package var fromTime: Timestamp?
    package var to: Int64?
    package var toTime: Timestamp?
    package var limit: Int64?
    package var cut: Int64?

    package init(
      path: String, from: Int64? = nil, fromTime: Timestamp? = nil, to: Int64? = nil, toTime: Timestamp? = nil,
      limit: Int64? = nil, cut: Int64? = nil
    ) {
      self.path = path
      self.from = from
      self.fromTime = fromTime
      self.to = to
      self.toTime = toTime
      self.limit = limit
      self.cut = cut
    }

    package static let notes: [String: FieldNote] = [
      "path": .path,
      "from": .text("From this revision; 0 is the empty tree."),
      "fromTime": .text("From this time."),
      "to": .text("To this revision; now if neither is given."),
      "toTime": .text("To this time."),
      "limit": .limit(1000),
      "cut": .cut,
    ]
  }

  /// What is different between two states of a path.
  package struct Difference: AdminValue {
    package var path: String
    package var from: Int64
    package var to: Int64
    /// Of differences.
    package var count: Int64
    /// The first of them, in the tree's order.
    package var changes: [AdminEvents.Change]
    /// Places of players who left, of which nothing is known: the first of them.
    package var erased: [AdminEvents.ErasedPath]?

    package init(
      path: String, from: Int64, to: Int64, count: Int64, changes: [AdminEvents.Change], erased: [AdminEvents.ErasedPath]? = nil
    ) {
      self.path = path
      self.from = from
      self.to = to
      self.count = count
      self.changes = changes
      self.erased = erased
    }

    package static let notes: [String: FieldNote] = [
      "count": .text("of differences"),
      "changes": .text("the first of them, in the tree's order"),
      "erased": .text("places of players who left, of which nothing is known: the first of them"),
    ]
  }

  /// Which commits are wanted.
  package struct LogQuery: AdminValue {
    package var path: String
    package var before: Int64?
    package var since: Timestamp?
    package var until: Timestamp?
    package var limit: Int64?
    package var changes: Int64?
    package var cut: Int64?

    package init(
      path: String, before: Int64? = nil, since: Timestamp? = nil, until: Timestamp? = nil, limit: Int64? = nil,
      changes: Int64? = nil, cut: Int64? = nil
    ) {
      self.path = path
      self.before = before
      self.since = since
      self.until = until
      self.limit = limit
      self.changes = changes
      self.cut = cut
    }

    package static let notes: [String: FieldNote] = [
      "path": .path,
      "before": .text("Only commits before this revision: the next of an earlier page."),
      "since": .since,
      "until": .until,
      "limit": .limit(50),
      "changes": .only(
        .integer(0...20), text: "At most so many changes of each commit, with their values; 20 if it is not given, 0 for none."),
      "cut": .cut,
    ]
  }

  /// The commits that touched a path or something below it, newest first.
  package struct Log: AdminValue {
    package var path: String
    package var commits: [AdminEvents.Commit]
    /// The next page's before.
    package var next: Int64?
    /// Every commit of this revision and later ones was looked at.
    package var scannedThrough: Int64
    /// Whether that was the beginning of what is remembered.
    package var complete: Bool
    /// The log was pruned up to here.
    package var prunedThrough: Int64?
    /// Places of players who left, of which nothing is known: the first of them.
    package var erased: [AdminEvents.ErasedPath]?

    package init(
      path: String, commits: [AdminEvents.Commit], next: Int64? = nil, scannedThrough: Int64, complete: Bool,
      prunedThrough: Int64? = nil, erased: [AdminEvents.ErasedPath]? = nil
    ) {
      self.path = path
      self.commits = commits
      self.next = next
      self.scannedThrough = scannedThrough
      self.complete = complete
      self.prunedThrough = prunedThrough
      self.erased = erased
    }

    package static let notes: [String: FieldNote] = [
      "next": .text("the next page's before"),
      "scannedThrough": .text("every commit of this revision and later ones was looked at"),
      "complete": .text("whether that was the beginning of what is remembered"),
      "prunedThrough": .text("the log was pruned up to here"),
      "erased": .text("places of players who left, of which nothing is known: the first of them"),
    ]
  }
}
