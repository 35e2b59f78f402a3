internal import CSQLite
public import StorageCore
internal import TreeModel

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
    attempt("The long values") { check throws(StorageError) in try check.checkLongValues() }
    return report
  }

  /// Only rows against their digests, which a store of another version has too.
  mutating func runOnDigests() -> StoreReport {
    attempt("The digests") { check throws(StorageError) in try check.checkDigests() }
    return report
  }

  /// Goes on with the rest where something cannot be read.
  private mutating func attempt(_ what: String, body: (inout StoreCheck) throws(StorageError) -> Void) {
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
    for table in ["commit_log", "ledger_entry", "row_digest"] + RowDigests.derivedTables where table != LongValue.table {
      let columns = try SQLiteStatement(
        "SELECT name, type, \"notnull\" FROM pragma_table_info('\(table)')", on: connection, isKept: false)
      let wrong = try columns.all { row throws(StorageError) -> String in
        let (name, type) = (try row.text(0), ["TEXT": "text", "BLOB": "blob"][try row.text(1)] ?? "integer")
        let others = (row.int(2) == 0 ? ", 'null'" : "") + (LongValue.columns[table] == name ? ", 'integer'" : "")
        return "typeof(\(name)) NOT IN ('\(type)'\(others))"
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
    var last: (position: Int64, hash: [UInt8])?
    while try rows.step() {
      let position = rows.int(0)
      if rows.isNull(6) {
        if last != nil { report.note("Audit record \(position) is not in the chain.") }
        continue
      }
      let hash = rows.bytes(6)
      if let last, position != last.position + 1 { report.note("Audit record \(last.position + 1) is missing.") }
      let actor = Actor(try rows.text(2))
      let record = AuditRecord(
        time: rows.int(1), actor: actor ?? .anonymous, action: try rows.text(3), detail: try rows.text(4),
        result: try rows.text(5))
      if actor == nil || hash != record.chainHash(position: position, previous: last?.hash ?? AuditRecord.genesisHash) {
        report.note("Audit record \(position) is not what was written, or does not follow on the one before it.")
      }
      last = (position, hash)
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

extension StoreCheck {
  /// Leaves that are kept in memory at a time, as hashes.
  private static let leavesPerPass: Int64 = 500_000

  /// What a place must hold.
  private struct Expected {
    /// The revision of its last change; nil where a checkpoint says only that it was not later than that.
    let revision: Int64?
    let value: Int
  }

  /// Replays the log, and compares each leaf of the tree with what it gives. A large tree is gone through in parts.
  mutating func checkTree() throws(StorageError) {
    let count = try connection.texts("SELECT count(*) FROM node").first.flatMap { Int64($0) } ?? 0
    let passes = count / Self.leavesPerPass + 1
    for pass in 0..<passes { try compareTree(pass, of: passes) }
    report.count(count)
  }

  private mutating func compareTree(_ pass: Int64, of passes: Int64) throws(StorageError) {
    var tree = try replayed(pass, of: passes)
    let rows = try SQLiteStatement("SELECT ns, path, revision, value FROM node", on: connection, isKept: false)
    defer { rows.reset() }
    while try rows.step() {
      let ns = rows.int(0)
      let place = Self.hash(ns, rows.raw(1))
      guard Self.isIn(pass, of: passes, place: place) else { continue }
      let (revision, pruned) = (rows.int(2), namespaces[ns]?.pruned ?? 0)
      guard let expected = tree.removeValue(forKey: place) else {
        // A checkpoint holds nothing of accounts.
        if PathBytes(bytes: rows.bytes(1)).isAccounts, revision <= pruned { continue }
        report.note("\(Self.name(rows.bytes(1))) of namespace \(ns) stands in the tree, but not in the log.")
        continue
      }
      let value = try rows.value(3) { bytes throws(StorageError) in Self.hash(0, bytes) }
      if expected.value != value {
        report.note("\(Self.name(rows.bytes(1))) of namespace \(ns) is not what the log says.")
      } else if expected.revision.map({ $0 != revision }) ?? (revision > pruned || revision < 1) {
        report.note("\(Self.name(rows.bytes(1))) of namespace \(ns) says that commit \(revision) wrote it, which is not so.")
      }
    }
    if !tree.isEmpty { report.note("\(tree.count) leaves that the log has are missing in the tree.") }
  }

  /// The tree by the last checkpoint and the log.
  private mutating func replayed(_ pass: Int64, of passes: Int64) throws(StorageError) -> [Int: Expected] {
    var tree: [Int: Expected] = [:]
    let leaves = try SQLiteStatement(
      """
      SELECT ns, path, value FROM checkpoint_leaf JOIN namespace ON id = ns AND pruned_revision = revision
      """, on: connection, isKept: false)
    defer { leaves.reset() }
    while try leaves.step() {
      let place = Self.hash(leaves.int(0), leaves.raw(1))
      guard Self.isIn(pass, of: passes, place: place) else { continue }
      let value = try leaves.value(2) { bytes throws(StorageError) in Self.hash(0, bytes) }
      tree[place] = Expected(revision: nil, value: value)
    }
    for (ns, past) in namespaces {
      try connection.forEachCommit(NamespaceID(rawValue: ns), after: past.pruned) { commit throws(StorageError) in
        for change in commit.changes ?? [] {
          let place = change.path.bytes.withUnsafeBytes { Self.hash(ns, $0) }
          guard Self.isIn(pass, of: passes, place: place) else { continue }
          tree[place] = change.after.map { value in
            Expected(revision: commit.revision.rawValue, value: value.storedBytes.withUnsafeBytes { Self.hash(0, $0) })
          }
        }
        return true
      }
    }
    return tree
  }

  private static func isIn(_ pass: Int64, of passes: Int64, place: Int) -> Bool {
    UInt64(bitPattern: Int64(place)) % UInt64(passes) == UInt64(pass)
  }

  private static func hash(_ number: Int64, _ bytes: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(number)
    hasher.combine(bytes: bytes)
    return hasher.finalize()
  }

  private static func name(_ path: [UInt8]) -> String {
    PathBytes(bytes: path).path?.description ?? "A leaf"
  }
}

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The fields of a SQLite file's first hundred bytes that SQLite's own check does not look at.
enum StoreHeader {
  /// What is not as the writer leaves it; nil if nothing is.
  static func fault(at path: String) -> String? {
    // A checkpoint may have been at it.
    read(path).flatMap { _ in read(path) }
  }

  private static func read(_ path: String) -> String? {
    var bytes = [UInt8](repeating: 0, count: 100)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else { return "The file is shorter than its header." }
    func word(_ offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
    // SQLite counts changes at 24, and notes at 92 for which count the size at 28 is right.
    let isRight =
      bytes[18..<21] == [2, 2, 0] && word(24) == word(92) && bytes[72..<92].allSatisfy { $0 == 0 }
      // The form of the schema and of texts stand there from the first table on.
      && [0, 4].contains(word(44)) && word(56) <= 1
      && [48, 52, 60, 64, 68].allSatisfy { word($0) == 0 }
    return isRight ? nil : "The header of the file is not what was written."
  }
}
