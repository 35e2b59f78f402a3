internal import CSQLite
public import StorageCore

extension SQLiteEngine {
  public func check() throws(StorageError) -> StoreReport {
    // With a cache of its own: what others have read and kept is not what the disk holds.
    let connection = try SQLiteConnection(path: path, vfs: options.vfs)
    defer { connection.close() }
    for pragma in Pragmas.reader(options) { try connection.execute(pragma) }
    try connection.execute("BEGIN")
    var check = StoreCheck(connection: connection)
    return check.run()
  }
}

/// Compares every page and every row of a store with what proves it.
///
/// Pages by SQLite's own check; rows by the digests that the writer keeps (``RowDigests``); the tree, the history and the sides
/// of ledger entries by the logs that they follow from; the audit log by its chain. That the logs themselves are what was
/// written is the word of their own audits.
struct StoreCheck {
  let connection: SQLiteConnection
  var report = StoreReport()
  /// Up to here the past of each namespace was pruned, and in the history.
  var namespaces: [Int64: (pruned: Int64, history: Int64)] = [:]

  init(connection: SQLiteConnection) {
    self.connection = connection
  }

  mutating func run() -> StoreReport {
    attempt("The file") { check throws(StorageError) in try check.checkPages() }
    attempt("The namespaces") { check throws(StorageError) in try check.readNamespaces() }
    attempt("The digests") { check throws(StorageError) in try check.checkDigests() }
    attempt("The columns") { check throws(StorageError) in try check.checkColumns() }
    attempt("The audit log") { check throws(StorageError) in try check.checkAudits() }
    attempt("The sides of ledger entries") { check throws(StorageError) in try check.checkPostings() }
    attempt("The history") { check throws(StorageError) in try check.checkHistory() }
    attempt("The tree") { check throws(StorageError) in try check.checkTree() }
    return report
  }

  /// Goes on with the rest where something cannot be read.
  private mutating func attempt(_ what: String, _ body: (inout StoreCheck) throws(StorageError) -> Void) {
    do throws(StorageError) {
      try body(&self)
    } catch {
      report.note("\(what) cannot be read: \(error.message)")
    }
  }

  // MARK: Pages

  private mutating func checkPages() throws(StorageError) {
    if let fault = StoreHeader.fault(at: connection.path) { report.note(fault) }
    for fault in try connection.texts("PRAGMA integrity_check(20)") where fault != "ok" {
      report.note("The pages of the file are not in order: \(fault)")
    }
  }

  private mutating func readNamespaces() throws(StorageError) {
    let rows = try SQLiteStatement(
      "SELECT id, pruned_revision, history_revision FROM namespace", on: connection, isKept: false)
    for (id, pruned, history) in try rows.all({ row throws(StorageError) in (row.int(0), row.int(1), row.int(2)) }) {
      namespaces[id] = (pruned, history)
    }
  }

  // MARK: Digests

  private mutating func checkDigests() throws(StorageError) {
    let digests = try RowDigests(connection)
    defer { digests.end() }
    var stored = try RowDigests.stored(on: connection)
    let transactions = stored.removeValue(forKey: RowDigests.transactionsKey)
    if transactions.map({ $0 != RowDigests.count($0.count) }) ?? true {
      report.note("The number of transactions is not what was written.")
    }
    var unread: [String] = []
    try digests.addUp { table, error throws(StorageError) in
      unread.append("The table \(table) cannot be read: \(error.message)")
    }
    for fault in unread { report.note(fault) }
    for key in Set(stored.keys).union(digests.sums.keys).sorted() {
      let (expected, found) = (stored[key] ?? RowSetDigest(), digests.sums[key] ?? RowSetDigest())
      report.count(found.count)
      guard expected != found else { continue }
      let place = key.ns == 0 ? "" : " of namespace \(key.ns)"
      report.note(
        expected.count == found.count
          ? "A row of the table \(key.table)\(place) is not what was written: their digest differs."
          : "The table \(key.table)\(place) has \(found.count) rows; \(expected.count) were written.")
    }
  }

  /// What has no digest must at least be of its column's type and of a namespace that there is: another type can read the same.
  private mutating func checkColumns() throws(StorageError) {
    for table in ["commit_log", "ledger_entry", "row_digest"] + RowDigests.derivedTables {
      let columns = try SQLiteStatement(
        "SELECT name, type, \"notnull\" FROM pragma_table_info('\(table)')", on: connection, isKept: false)
      let wrong = try columns.all { row throws(StorageError) -> String in
        let type = ["TEXT": "text", "BLOB": "blob"][try row.text(1)] ?? "integer"
        return "typeof(\(try row.text(0))) NOT IN ('\(type)'\(row.int(2) == 0 ? ", 'null'" : ""))"
      }
      let orphaned = table == "row_digest" ? "ns <> 0 AND ns NOT IN" : "ns NOT IN"
      let found = try connection.texts(
        "SELECT count(*) FROM \(table) WHERE \(wrong.joined(separator: " OR ")) OR \(orphaned) (SELECT id FROM namespace)")
      if let count = found.first, count != "0" {
        report.note("The table \(table) has \(count) rows of a wrong type, or of no namespace.")
      }
    }
  }

  // MARK: The audit log

  /// Records from before the chain was kept have no hash; from the first on that has one, each must.
  private mutating func checkAudits() throws(StorageError) {
    let rows = try SQLiteStatement(
      "SELECT id, time, actor, action, detail, result, hash FROM audit LEFT JOIN audit_chain USING (id) ORDER BY id",
      on: connection, isKept: false)
    defer { rows.reset() }
    var last: (place: Int64, hash: [UInt8])?
    while try rows.step() {
      let place = rows.int(0)
      if rows.isNull(6) {
        if last != nil { report.note("Audit record \(place) is not in the chain.") }
        continue
      }
      let hash = rows.bytes(6)
      if let last, place != last.place + 1 { report.note("Audit record \(last.place + 1) is missing.") }
      let actor = Actor(try rows.text(2))
      let record = AuditRecord(
        time: rows.int(1), actor: actor ?? .anonymous, action: try rows.text(3), detail: try rows.text(4),
        result: try rows.text(5))
      if actor == nil || hash != record.chainHash(place: place, previous: last?.hash ?? AuditRecord.genesisHash) {
        report.note("Audit record \(place) is not what was written, or does not follow on the one before it.")
      }
      last = (place, hash)
    }
    let stray = try connection.texts("SELECT count(*) FROM audit_chain WHERE id NOT IN (SELECT id FROM audit)")
    if let count = stray.first, count != "0" { report.note("\(count) audit records are missing that the chain knows.") }
  }

  // MARK: The ledger

  /// Each entry stands under both its accounts, and nothing else does.
  private mutating func checkPostings() throws(StorageError) {
    var expected: [Int64: RowSetDigest] = [:]
    var found: [Int64: RowSetDigest] = [:]
    func read(_ sql: String, into sums: inout [Int64: RowSetDigest]) throws(StorageError) {
      let rows = try SQLiteStatement(sql, on: connection, isKept: false)
      defer { rows.reset() }
      while try rows.step() {
        var writer = ByteWriter(capacity: 64)
        writer.write(bytes: rows.raw(1))
        writer.write(signed: rows.int(2))
        writer.bytes.withUnsafeBytes { sums[rows.int(0), default: RowSetDigest()].add($0) }
      }
    }
    try read("SELECT ns, debit, sequence FROM ledger_entry", into: &expected)
    try read("SELECT ns, credit, sequence FROM ledger_entry WHERE credit <> debit", into: &expected)
    try read("SELECT ns, account, sequence FROM ledger_posting", into: &found)
    for ns in Set(expected.keys).union(found.keys).sorted() {
      report.count(found[ns]?.count ?? 0)
      if expected[ns] != found[ns] {
        report.note("The statements of accounts of namespace \(ns) do not show the entries of its ledger.")
      }
    }
  }
}
