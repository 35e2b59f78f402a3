internal import StorageCore
internal import TreeModel

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
    _ body: (_ path: PathBytes, _ before: () throws(StorageError) -> Scalar?) throws(StorageError) -> Void
  ) throws(StorageError) {
    var (path, skipped) = (range.lower, Int64(-1))
    while let next = try step(ns, run, after: revision, from: path, skipped, to: range.upper, body) {
      (path, skipped) = next
    }
  }

  /// Goes through the rows behind (path, revision) until a path has too many of no use.
  ///
  /// - Returns: where to go on; nil at the end.
  private func step(
    _ ns: NamespaceID, _ run: HistoryRun, after revision: Int64, from path: [UInt8], _ skipped: Int64, to upper: [UInt8],
    _ body: (_ path: PathBytes, _ before: () throws(StorageError) -> Scalar?) throws(StorageError) -> Void
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
        var reader = ByteReader(statement.raw(2))
        let before = try reader.optionalScalar()
        try reader.finish()
        return before
      }
    }
    return nil
  }

  /// Adds the revisions of a run's changes within a range, up to `last`.
  ///
  /// - Parameter rows: how many rows may be looked at; what was looked at is taken off.
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
