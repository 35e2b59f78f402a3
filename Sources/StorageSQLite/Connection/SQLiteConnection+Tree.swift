internal import StorageCore
internal import TreeModel

/// A range of stored paths, from `lower` up to but without `upper`.
struct PathRange {
  let lower: [UInt8]
  let upper: [UInt8]

  static let end = PathBytes.afterAll.bytes

  init(lower: [UInt8], upper: [UInt8]) {
    self.lower = lower
    self.upper = upper
  }

  /// The subtree at `path`, with its own leaf and priority.
  init(subtree path: PathBytes) {
    lower = path.bytes
    upper = path.subtreeEnd?.bytes ?? Self.end
  }

  func contains(_ path: PathBytes) -> Bool {
    !path.bytes.precedes(lower) && path.bytes.precedes(upper)
  }
}

extension SQLiteConnection {
  func leaf(_ ns: NamespaceID, at path: PathBytes) throws(StorageError) -> StoredLeaf? {
    try statement(.leaf).bind(ns.rawValue).bind(path.bytes).first(Self.leaf)
  }

  func leaves(_ ns: NamespaceID, in range: PathRange, limit: Int) throws(StorageError) -> [StoredLeaf] {
    try statement(.leavesAscending).bind(ns.rawValue).bind(range.lower).bind(range.upper).all(limit: limit, Self.leaf)
  }

  func lastPath(_ ns: NamespaceID, before path: PathBytes) throws(StorageError) -> PathBytes? {
    try statement(.lastPath).bind(ns.rawValue).bind(path.bytes).first { row throws(StorageError) in
      PathBytes(bytes: row.bytes(0))
    }
  }

  func firstPath(_ ns: NamespaceID, in range: PathRange) throws(StorageError) -> PathBytes? {
    try statement(.firstPath).bind(ns.rawValue).bind(range.lower).bind(range.upper).first {
      row throws(StorageError) in PathBytes(bytes: row.bytes(0))
    }
  }

  /// Reads a row of path, revision, value.
  static func leaf(_ row: SQLiteStatement) throws(StorageError) -> StoredLeaf {
    let path = PathBytes(bytes: row.bytes(0))
    return StoredLeaf(leaf: Leaf(path: path, scalar: try row.value(2, Scalar.init(stored:))), revision: Revision(row.int(1)))
  }

  /// Up to which revision the history is complete, and up to which the past was pruned.
  func watermark(_ ns: NamespaceID) throws(StorageError) -> (history: Int64, pruned: Int64) {
    try statement(.watermark).bind(ns.rawValue).first { row throws(StorageError) in (row.int(0), row.int(1)) } ?? (0, 0)
  }
}

extension SQLiteConnection {
  func rules(_ ns: NamespaceID) throws(StorageError) -> RulesRecord? {
    try statement(.rules).bind(ns.rawValue).first { row throws(StorageError) in
      RulesRecord(source: try row.text(0), updatedAt: row.int(1), lastIndex: row.int(2))
    }
  }

  func indexes(_ ns: NamespaceID) throws(StorageError) -> [IndexRecord] {
    try statement(.indexes).bind(ns.rawValue).all(readIndex)
  }

  func index(_ ns: NamespaceID, id: IndexID) throws(StorageError) -> IndexRecord? {
    try statement(.index).bind(ns.rawValue).bind(id.rawValue).first(readIndex)
  }

  private func readIndex(_ row: SQLiteStatement) throws(StorageError) -> IndexRecord {
    IndexRecord(
      id: IndexID(rawValue: row.int(0)), pattern: try row.text(1), order: try row.text(2),
      state: try value(row.text(3), "an index's state"), cursor: row.isNull(4) ? nil : PathBytes(bytes: row.bytes(4)),
      childCount: row.int(5))
  }

  func indexEntries(
    _ ns: NamespaceID, of index: IndexID, below parent: PathBytes, from lower: IndexEntry, to upper: IndexEntry,
    isDescending: Bool, limit: Int
  ) throws(StorageError) -> [IndexEntry] {
    try statement(isDescending ? .indexEntriesDescending : .indexEntriesAscending).bind(ns.rawValue).bind(index.rawValue)
      .bind(parent.bytes).bind(lower.bytes).bind(upper.bytes)
      .all(limit: limit) { row throws(StorageError) in IndexEntry(bytes: row.bytes(0)) }
  }

  func hasIndexEntries(_ ns: NamespaceID, of index: IndexID) throws(StorageError) -> Bool {
    try statement(.anyPath).bind(ns.rawValue).bind(index.rawValue).first { _ throws(StorageError) in true } ?? false
  }
}

extension SQLiteConnection {
  /// The whole runs that hold a change after `revision`, oldest first.
  func historyRuns(_ ns: NamespaceID, after revision: Int64) throws(StorageError) -> [HistoryRun] {
    try statement(.historyRuns).bind(ns.rawValue).bind(revision).all { row throws(StorageError) in
      HistoryRun(generation: row.int(0), after: row.int(1), last: row.int(2))
    }
  }

  /// Rows of a path that are stepped over before a seek is cheaper.
  private static let stepsMax = 8

  /// Calls `body` with the earliest change after `revision` of each path of a range that a run holds.
  func forEachEarliest(
    _ ns: NamespaceID, in run: HistoryRun, after revision: Int64, in range: PathRange,
    body: (_ path: PathBytes, _ before: () throws(StorageError) -> Scalar?) throws(StorageError) -> Void
  ) throws(StorageError) {
    var (path, skipped) = (range.lower, Int64(-1))
    while let next = try step(ns, run: run, after: revision, from: path, skipped: skipped, to: range.upper, body: body) {
      (path, skipped) = next
    }
  }

  /// Goes through the rows behind (path, revision) until a path has too many of no use.
  ///
  /// - Returns: where to go on; nil at the end.
  private func step(
    _ ns: NamespaceID, run: HistoryRun, after revision: Int64, from path: [UInt8], skipped: Int64, to upper: [UInt8],
    body: (_ path: PathBytes, _ before: () throws(StorageError) -> Scalar?) throws(StorageError) -> Void
  ) throws(StorageError) -> (path: [UInt8], revision: Int64)? {
    let statement = try statement(.historyAfter)
    defer { statement.reset() }
    statement.bind(ns.rawValue).bind(run.generation).bind(path).bind(skipped).bind(upper)
    var found: [UInt8]?
    var useless = 0
    while try statement.step() {
      let isFound = found.map { $0.elementsEqual(statement.raw(0)) } ?? false
      guard !isFound, statement.int(1) > revision else {
        useless += 1
        if useless > Self.stepsMax { return (statement.bytes(0), isFound ? .max : revision) }
        continue
      }
      useless = 0
      found = statement.bytes(0)
      try body(PathBytes(bytes: statement.bytes(0))) { () throws(StorageError) in
        try statement.value(2) { bytes throws(StorageError) in
          var reader = ByteReader(bytes)
          let before = try reader.optionalScalar()
          try reader.finish()
          return before
        }
      }
    }
    return nil
  }

  /// Adds the revisions of a run's changes within a range, up to `last`.
  ///
  /// - `rows`: how many rows may be looked at; what was looked at is taken off.
  /// - Returns: false if there were more rows.
  func addTouches(
    _ ns: NamespaceID, in run: HistoryRun, through last: Int64, in range: PathRange, rows: inout Int,
    to revisions: inout Set<Int64>
  ) throws(StorageError) -> Bool {
    let statement = try statement(.historyAfter)
    defer { statement.reset() }
    statement.bind(ns.rawValue).bind(run.generation).bind(range.lower).bind(-1).bind(range.upper)
    while try statement.step() {
      guard rows > 0 else { return false }
      rows -= 1
      if statement.int(1) <= last { revisions.insert(statement.int(1)) }
    }
    return true
  }

  // MARK: Times

  /// The last revision whose commit is not later than `time`, found by halving.
  func revision(_ ns: NamespaceID, at time: Int64) throws(StorageError) -> Int64 {
    guard let first = try statement(.firstCommit).bind(ns.rawValue).first({ row throws(StorageError) in row.int(0) }) else {
      return 0
    }
    var low = first - 1
    var high = try lastRevision(ns)
    while low < high {
      let middle = low + (high - low + 1) / 2
      let found = try statement(.commitTime).bind(ns.rawValue).bind(middle).first { row throws(StorageError) in row.int(0) }
      guard let found else { throw damaged("the commit \(middle)") }
      if found <= time { low = middle } else { high = middle - 1 }
    }
    return low
  }
}
