internal import CSQLite
internal import StorageCore
internal import TreeModel

/// Merges the runs of the history, so that a look into the past has few of them to search.
///
/// Runs have levels. When a level has ``HistoryLimits/mergeRuns`` whole runs, the oldest of them become one run of the next
/// level: a million changes are 7 runs of 131,072 and 10 of 8,192, a hundred million at most 48 runs. Every change is
/// written once more for each level, in the order of the new run, some hundred rows to a transaction; the writer waits at most
/// for one of those. Readers search the old runs until the new one is whole, in a transaction that lists it in their place.
/// Everything is resumed where it was: a growing run behind its last row, a retired one with what is left of it.
final class HistoryCompactor {
  /// What is being done.
  private enum Job {
    case merge(HistoryMerge)
    case remove(ns: Int64, generation: Int64)
  }

  private let connection: SQLiteConnection
  private let limits: HistoryLimits
  private var job: Job?

  init(connection: SQLiteConnection, limits: HistoryLimits) {
    self.connection = connection
    self.limits = limits
  }

  func releaseMemory() { connection.releaseMemory() }

  func close() {
    job = nil
    connection.close()
  }

  /// Does a piece of what is to be done; false if there is nothing.
  func step() throws(StorageError) -> Bool {
    do {
      if job == nil { job = try nextJob() }
      switch job {
      case nil: return false
      case .merge(let merge): if try merge.step(rows: limits.mergeRows, on: connection) { job = nil }
      case .remove(let ns, let generation): if try remove(ns, generation) { job = nil }
      }
      return true
    } catch {
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      connection.recorder?.forget()
      // What was read ahead may not be what the file holds now.
      job = nil
      throw error
    }
  }

  // MARK: Choosing

  private func nextJob() throws(StorageError) -> Job? {
    let rows = try HistoryRunRow.all(on: connection)
    if let row = rows.first(where: { $0.state == .retired }) { return .remove(ns: row.ns, generation: row.run.generation) }
    if let target = rows.first(where: { $0.state == .growing }) {
      return .merge(try HistoryMerge(of: sources(of: target, in: rows), into: target, on: connection))
    }
    for row in rows where row.state == .whole && row.run.last <= row.pruned {
      // Nobody may read it any more.
      guard try set(.retired, row) else { return nil }
      return .remove(ns: row.ns, generation: row.run.generation)
    }
    guard let target = due(in: rows) else { return nil }
    guard try connection.briefly({ () throws(StorageError) in try connection.insert(target) }) != nil else { return nil }
    return .merge(try HistoryMerge(of: sources(of: target, in: rows), into: target, on: connection))
  }

  /// The run that should be made next, if any level is full.
  private func due(in rows: [HistoryRunRow]) -> HistoryRunRow? {
    let levels = Dictionary(grouping: rows.filter { $0.state == .whole && $0.level < HistoryRun.levelMax }) {
      [$0.ns, $0.level]
    }
    for (_, level) in levels.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) where level.count >= limits.mergeRuns {
      let oldest = level.sorted { $0.run.last < $1.run.last }.prefix(limits.mergeRuns)
      guard let first = oldest.first, let last = oldest.last else { continue }
      let run = HistoryRun(
        generation: HistoryRun.mergedName(last: last.run.last, level: first.level + 1), after: first.run.after,
        last: last.run.last)
      return HistoryRunRow(ns: first.ns, run: run, level: first.level + 1, state: .growing, pruned: first.pruned)
    }
    return nil
  }

  private func sources(of target: HistoryRunRow, in rows: [HistoryRunRow]) -> [HistoryRunRow] {
    rows.filter {
      $0.ns == target.ns && $0.level == target.level - 1 && $0.state == .whole && $0.run.after >= target.run.after
        && $0.run.last <= target.run.last
    }.sorted { $0.run.last < $1.run.last }
  }

  /// False if the writer was met.
  private func set(_ state: HistoryRun.State, _ row: HistoryRunRow) throws(StorageError) -> Bool {
    try connection.briefly { () throws(StorageError) in
      try connection.execute(
        "UPDATE history_run SET state = '\(state.rawValue)' WHERE ns = \(row.ns) AND generation = \(row.run.generation)")
    } != nil
  }

  // MARK: Removing

  /// Removes some rows of a retired run, and at last the run; true when it is gone.
  private func remove(_ ns: Int64, _ generation: Int64) throws(StorageError) -> Bool {
    let border = try SQLiteStatement(
      "SELECT path, revision FROM history WHERE ns = ? AND generation = ? ORDER BY path, revision LIMIT 1 OFFSET ?",
      on: connection, isKept: false)
    let last = try border.bind(ns).bind(generation).bind(Int64(limits.mergeRows)).first { row throws(StorageError) in
      (path: row.bytes(0), revision: row.int(1))
    }
    return try connection.briefly { () throws(StorageError) in
      guard let last else {
        try connection.execute("DELETE FROM history WHERE ns = \(ns) AND generation = \(generation)")
        try connection.execute("DELETE FROM history_run WHERE ns = \(ns) AND generation = \(generation)")
        return true
      }
      try SQLiteStatement(
        "DELETE FROM history WHERE ns = ? AND generation = ? AND (path, revision) < (?, ?)", on: connection, isKept: false
      ).bind(ns).bind(generation).bind(last.path).bind(last.revision).run()
      return false
    } ?? false
  }
}

/// One merge: rows of several runs, in the order of path and age, become rows of one.
final class HistoryMerge {
  /// Rows that are read ahead of each run.
  private static let aheadRows = 128
  /// Bytes after which no further row is read ahead.
  private static let aheadBytes = 256 << 10
  /// Bytes after which a step has enough.
  private static let stepBytes = 1 << 20

  /// A run with some of its rows read ahead.
  private struct Source {
    let generation: Int64
    var rows: [Row] = []
    var next = 0
    var isAtEnd = false
  }

  private struct Row {
    let path: [UInt8]
    let revision: Int64
    let before: StoredValue
  }

  private let target: HistoryRunRow
  private let sourceRows: [HistoryRunRow]
  /// Oldest first: of one path the rows of an earlier run come first.
  private var sources: [Source]
  private let reading: SQLiteStatement
  private let writing: SQLiteStatement
  /// Where the target ended when this merge was taken up: every row of every source up to there is in it.
  private let border: (path: [UInt8], revision: Int64)
  /// How often rows of the history had been erased when this merge was taken up: what was read ahead is good until then.
  private let erasures: Int64?
  /// The rows of the step that is being written; kept when the writer was in the way.
  private var slice: [Row] = []
  /// Whether nothing comes behind those.
  private var isLast = false

  init(of sourceRows: [HistoryRunRow], into target: HistoryRunRow, on connection: SQLiteConnection) throws(StorageError) {
    self.target = target
    erasures = try connection.meta(.historyErasures)
    self.sourceRows = sourceRows
    sources = sourceRows.map { Source(generation: $0.run.generation) }
    reading = try SQLiteStatement(
      """
      SELECT path, revision, before FROM history WHERE ns = ? AND generation = ? AND (path, revision) > (?, ?)
      ORDER BY path, revision LIMIT \(Self.aheadRows)
      """, on: connection, isKept: true)
    writing = try SQLiteStatement(
      "INSERT INTO history (ns, generation, path, revision, before) VALUES (?, ?, ?, ?, ?)", on: connection, isKept: true)
    let last = try SQLiteStatement(
      "SELECT path, revision FROM history WHERE ns = ? AND generation = ? ORDER BY path DESC, revision DESC LIMIT 1",
      on: connection, isKept: false
    ).bind(target.ns).bind(target.run.generation).first { row throws(StorageError) in (path: row.bytes(0), revision: row.int(1))
    }
    border = last ?? (path: [], revision: -1)
  }

  /// Writes some rows; true when the new run is whole and stands in the place of the old ones.
  func step(rows: Int, on connection: SQLiteConnection) throws(StorageError) -> Bool {
    if slice.isEmpty {
      var bytes = 0
      isLast = false
      while !isLast, slice.count < rows, bytes < Self.stepBytes {
        guard let row = try next() else {
          isLast = true
          continue
        }
        bytes += row.path.count + row.before.bytes
        slice.append(row)
      }
    }
    let isWhole = isLast
    var isWanted = true
    let isDone = try connection.briefly { () throws(StorageError) in
      let isSame = try connection.meta(.historyErasures) == erasures
      isWanted = try connection.hasRun(target)
      isWanted = isWanted && isSame
      guard isWanted else { return true }
      for row in slice {
        try writing.bind(target.ns).bind(target.run.generation).bind(row.path).bind(row.revision).bind(row.before).run()
      }
      if isWhole { try exchange(on: connection) }
      return true
    }
    guard isDone == true else { return false }
    slice = []
    return isWhole || !isWanted
  }

  /// Lists the new run in the place of the old ones.
  private func exchange(on connection: SQLiteConnection) throws(StorageError) {
    let key = "ns = \(target.ns) AND generation"
    try connection.execute("UPDATE history_run SET state = 'whole' WHERE \(key) = \(target.run.generation)")
    for row in sourceRows {
      try connection.execute("UPDATE history_run SET state = 'retired' WHERE \(key) = \(row.run.generation)")
    }
  }

  /// The first of the rows that come next, by path and then by age.
  private func next() throws(StorageError) -> Row? {
    var first: Int?
    for index in sources.indices {
      if sources[index].next == sources[index].rows.count { try refill(index) }
      guard sources[index].next < sources[index].rows.count else { continue }
      guard let best = first else {
        first = index
        continue
      }
      if head(index).path.precedes(head(best).path) { first = index }
    }
    guard let first else { return nil }
    defer { sources[first].next += 1 }
    return head(first)
  }

  private func head(_ index: Int) -> Row { sources[index].rows[sources[index].next] }

  private func refill(_ index: Int) throws(StorageError) {
    guard !sources[index].isAtEnd else { return }
    let from = sources[index].rows.last.map { (path: $0.path, revision: $0.revision) } ?? border
    var bytes = 0
    let rows = try reading.bind(target.ns).bind(sources[index].generation).bind(from.path).bind(from.revision).all(
      until: { bytes >= Self.aheadBytes }
    ) { row throws(StorageError) in
      let row = Row(path: row.bytes(0), revision: row.int(1), before: row.stored(2))
      bytes += row.path.count + row.before.bytes
      return row
    }
    sources[index].rows = rows
    sources[index].next = 0
    sources[index].isAtEnd = rows.count < Self.aheadRows && bytes < Self.aheadBytes
  }
}
