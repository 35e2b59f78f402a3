internal import CSQLite
internal import StorageCore

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
