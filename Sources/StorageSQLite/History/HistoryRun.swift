internal import CSQLite
internal import StorageCore

/// A sorted run of the table `history`, as the table `history_run` lists it.
struct HistoryRun: Sendable, Hashable {
  enum State: String {
    /// To be looked through by readers of the past.
    case whole
    /// Being merged from whole runs of the level below.
    case growing
    /// Its rows are being removed; another run has them.
    case retired
  }

  /// The name of its rows: of a run that the writer made the last revision, of a merged one a number beyond all revisions.
  let generation: Int64
  /// It holds the changes of later revisions than this one.
  let after: Int64
  /// It holds the changes up to this revision.
  let last: Int64

  /// The name of a merged run. Runs of one level are disjoint, so their last revisions differ.
  static func mergedName(last: Int64, level: Int64) -> Int64 { mergedNames + last * 8 + level }

  /// Where the names of merged runs begin.
  static let mergedNames: Int64 = 1 << 62

  /// Merging ends here: 16 to the seventh runs are more than a file can hold.
  static let levelMax: Int64 = 7
}

/// A row of the table `history_run`, with what is known of its namespace.
struct HistoryRunRow {
  let ns: Int64
  let run: HistoryRun
  let level: Int64
  let state: HistoryRun.State
  /// Up to here the namespace's past was forgotten.
  let pruned: Int64

  static func all(on connection: SQLiteConnection) throws(StorageError) -> [HistoryRunRow] {
    let statement = try SQLiteStatement(
      """
      SELECT ns, generation, after_revision, last_revision, level, state, pruned_revision
      FROM history_run JOIN namespace ON namespace.id = history_run.ns ORDER BY ns, last_revision
      """, on: connection, isKept: false)
    return try statement.all { row throws(StorageError) in
      HistoryRunRow(
        ns: row.int(0), run: HistoryRun(generation: row.int(1), after: row.int(2), last: row.int(3)), level: row.int(4),
        state: try connection.value(row.text(5), "the state of a run of the history"), pruned: row.int(6))
    }
  }
}

extension SQLiteConnection {
  func insert(_ row: HistoryRunRow) throws(StorageError) {
    try statement(.putHistoryRun).bind(row.ns).bind(row.run.generation).bind(row.run.after).bind(row.run.last)
      .bind(row.level).bind(row.state.rawValue).run()
  }

  /// Whether a run is still listed: it goes with its namespace.
  func hasRun(_ row: HistoryRunRow) throws(StorageError) -> Bool {
    try !texts("SELECT state FROM history_run WHERE ns = \(row.ns) AND generation = \(row.run.generation)").isEmpty
  }

  /// Runs `body` in a transaction, unless another connection is writing: then nothing is done, and nil returned.
  ///
  /// What the writer wrote before is durable first: a transaction in the log proves that those before it are.
  func briefly<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result? {
    let code = sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil)
    if code & 0xFF == SQLITE_BUSY { return nil }
    guard code == SQLITE_OK else { throw error(code, during: "beginning a merge") }
    if recorder == nil { try syncLog() }
    let result = try body()
    try commitOnceDurable()
    return result
  }

  /// Makes durable what the log file holds.
  private func syncLog() throws(StorageError) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK, let file,
      let methods = file.pointee.pMethods
    else { return }
    let code = methods.pointee.xSync(file, SQLITE_SYNC_NORMAL)
    guard code == SQLITE_OK else { throw error(code, during: "syncing the log before a merge") }
  }
}
