internal import StorageCore
internal import TreeModel

/// Windows of the tree, now and in the past, of which no row costs more than its share.
extension SQLiteSnapshot {
  func commitTime(in namespace: NamespaceID, at revision: Revision) throws(StorageError) -> Int64? {
    try db.statement(.commitTime).bind(namespace.rawValue).bind(revision.rawValue).first { row throws(StorageError) in
      row.int(0)
    }
  }

  func lastPath(in namespace: NamespaceID, before path: PathBytes, since revision: Revision) throws(StorageError)
    -> PathBytes?
  {
    // As for every read of the past, the snapshot first and the memory's copy after it (``HistoryMemory``).
    let connection = try db
    var last = try connection.lastPath(namespace, before: path)
    if revision == Revision(.max) { return last }
    let head = try connection.lastRevision(namespace)
    guard revision.rawValue < head else { return last }
    let recent = try history.recent(namespace, reading: connection)
    func note(_ found: PathBytes?) {
      if let found, last.map({ $0 < found }) ?? true { last = found }
    }
    for run in try connection.historyRuns(namespace, after: revision.rawValue) {
      note(try connection.lastPath(namespace, in: run, before: path))
    }
    let range = PathRange(lower: last?.bytes ?? [], upper: path.bytes)
    recent.forEachChange(after: revision.rawValue, through: .max, in: range) { found, _, _ in note(found) }
    try forEachMissed(namespace, after: revision.rawValue, recent: recent) { change, _ in
      if range.contains(change.path) { note(change.path) }
    }
    return last
  }

  func lastTouches(in namespace: NamespaceID, under paths: [PathBytes], through revision: Revision, rowsMax: Int)
    throws(StorageError) -> [Revision?]
  {
    guard let first = paths.first, let last = paths.last else { return [] }
    let connection = try db
    let head = try connection.lastRevision(namespace)
    let pruned = try connection.watermark(namespace).pruned
    let recent = try history.recent(namespace, reading: connection)
    let through = min(revision.rawValue, head)
    var found = [Int64?](repeating: nil, count: paths.count)
    func note(_ path: PathBytes, _ revision: Int64) {
      let place = paths.lowerBound { $0 <= path } - 1
      if place >= 0, paths[place].contains(path) { found[place] = max(found[place] ?? 0, revision) }
    }
    let whole = PathRange(lower: first.bytes, upper: PathRange(subtree: last).upper)
    recent.forEachChange(after: pruned, through: through, in: whole) { path, revision, _ in note(path, revision) }
    try forEachMissed(namespace, after: pruned, recent: recent) { change, revision in
      if revision <= through { note(change.path, revision) }
    }
    let runs = try connection.historyRuns(namespace, after: pruned).filter { $0.after < through }
    for place in paths.indices where found[place] == nil {
      found[place] = try connection.lastTouch(
        namespace, in: runs, from: pruned + 1, through: through, of: PathRange(subtree: paths[place]), rowsMax: rowsMax)
    }
    return found.map { $0.map { Revision($0) } }
  }

  /// Shows the changes after a revision that are neither in the snapshot's runs nor in the memory's copy: of commits that left
  /// the memory after the snapshot was opened.
  private func forEachMissed(
    _ namespace: NamespaceID, after revision: Int64, recent: RecentChanges, body: (LeafChange, Int64) -> Void
  ) throws(StorageError) {
    let connection = try db
    let watermark = try connection.watermark(namespace).history
    guard watermark < recent.start else { return }
    for commit in try connection.commits(namespace, after: max(revision, watermark)) {
      guard commit.revision.rawValue <= recent.start else { return }
      for change in commit.changes ?? [] { body(change, commit.revision.rawValue) }
    }
  }
}

extension SQLiteConnection {
  fileprivate func lastPath(_ ns: NamespaceID, in run: HistoryRun, before path: PathBytes) throws(StorageError) -> PathBytes? {
    try statement(.lastHistoryPath).bind(ns.rawValue).bind(run.generation).bind(path.bytes).first { row throws(StorageError) in
      PathBytes(bytes: row.bytes(0))
    }
  }

  /// The last revision of `first...last` that changed something within a range, by runs of which the last is the newest; nil if
  /// none did, or if that would take more rows.
  fileprivate func lastTouch(
    _ ns: NamespaceID, in runs: [HistoryRun], from first: Int64, through last: Int64, of range: PathRange, rowsMax: Int
  ) throws(StorageError) -> Int64? {
    var rows = rowsMax
    for run in runs.reversed() {
      let statement = try statement(.historyPaths)
      defer { statement.reset() }
      statement.bind(ns.rawValue).bind(run.generation).bind(range.lower).bind(range.upper)
      var found: Int64?
      while try statement.step() {
        guard rows > 0 else { return nil }
        rows -= 1
        let revision = statement.int(1)
        if revision >= first, revision <= last { found = max(found ?? 0, revision) }
      }
      if let found { return found }
    }
    return nil
  }

  /// Up to where the rows of a run may be read at once: so many, and of so many bytes. Further than where the range begins, for
  /// of one path more are no more work.
  func reach(_ ns: NamespaceID, of run: HistoryRun, in range: PathRange, rows: Int, bytes: Int) throws(StorageError) -> [UInt8]
  {
    let statement = try statement(.historyPaths)
    defer { statement.reset() }
    statement.bind(ns.rawValue).bind(run.generation).bind(range.lower).bind(range.upper)
    var (rows, bytes) = (rows, bytes)
    var first: [UInt8]?
    while try statement.step() {
      if let first, rows <= 0 || bytes < 0 {
        return first.elementsEqual(statement.raw(0)) ? first + [0] : statement.bytes(0)
      }
      if first == nil { first = statement.bytes(0) }
      rows -= 1
      bytes -= Int(statement.int(2))
    }
    return range.upper
  }
}
