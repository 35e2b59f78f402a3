internal import CSQLite
internal import StorageCore

/// The digests of the tables that have no other witness, kept up with every change that a connection makes.
///
/// Temporary triggers, which only this connection has, call a function with each row that comes and goes: so no way of
/// writing a row can be forgotten, and the file holds nothing but tables. What has a witness already is left out, because it
/// is written most: the tree follows from the log, the log and the ledger are chains (of which only the hashes are added up
/// here, so that a cut-off end shows), the history and the ledger's sides and balances follow from those.
///
/// For one thread at a time, as its connection.
final class RowDigests {
  struct Key: Hashable, Comparable {
    let ns: Int64
    let table: String

    static func < (one: Key, other: Key) -> Bool { (one.ns, one.table) < (other.ns, other.table) }
  }

  /// A table of which rows are added up.
  struct Table {
    let name: String
    /// What of a row counts.
    let columns: [String]
    let hasNamespace: Bool
    /// The column whose values may stand apart; nil too in a store of a schema that has no long values.
    var longColumn: String?

    /// The name as SQL has it: the table may be somebody else's.
    var quotedName: String { Self.quoted(name) }
    var quotedColumns: String { columns.map(Self.quoted).joined(separator: ", ") }

    /// The arguments that stand for a row: whose it is, and its columns.
    func arguments(_ row: String) -> String {
      let owner = hasNamespace ? "\(row)ns" : "0"
      let values = columns.map { column in
        if column == "changes" { return erasedChanges(row) }
        return column == longColumn ? LongValue.content(row + column) : row + Self.quoted(column)
      }
      return ([owner] + values).joined(separator: ", ")
    }

    static func quoted(_ name: String) -> String { quoted(name, by: "\"") }

    static func quoted(_ text: String, by mark: String) -> String {
      mark + text.split(separator: mark, omittingEmptySubsequences: false).joined(separator: mark + mark) + mark
    }

    /// The digest of a commit covers what it changed, but not the places of which an erasure has taken something out: such a
    /// payload begins with a 2.
    private func erasedChanges(_ row: String) -> String {
      let long =
        "WHEN typeof(\(row)changes) = 'integer' THEN "
        + "(SELECT CASE tag WHEN x'02' THEN value END FROM long_value WHERE id = \(row)changes) "
      return "CASE \(longColumn == nil ? "" : long)WHEN substr(\(row)changes, 1, 1) = x'02' THEN \(row)changes END"
    }
  }

  /// Tables whose rows follow from others.
  static let derivedTables = ["node", "history", "history_run", "ledger_posting", "ledger_balance", LongValue.table]
  /// The name under which the schema itself is added up.
  static let schemaName = "sqlite_schema"
  /// The name under which the writer's transactions are counted.
  static let transactionsName = "transactions"
  /// Of these the hashes stand for the rows.
  private static let chains = [
    "commit_log": ["ns", "revision", "hash", "changes"], "ledger_entry": ["ns", "sequence", "hash"],
  ]

  let tables: [Table]
  /// Whether the store's schema has long values.
  let hasLongValues: Bool
  private unowned let connection: SQLiteConnection
  private(set) var sums: [Key: RowSetDigest] = [:]
  /// How many transactions wrote digests, with this one: tells how much of what was acknowledged a file holds.
  private(set) var transactions: Int64 = 0
  private var changed: Set<Key> = []
  private var row: [UInt8] = []
  private var putting: SQLiteStatement?
  private var removing: SQLiteStatement?

  /// Learns the tables, and gives the connection the function `function(_:)`; nothing is added up yet.
  init(_ connection: SQLiteConnection) throws(StorageError) {
    self.connection = connection
    var tables: [Table] = []
    // Not SQLite's own, which ANALYZE makes: they cannot have triggers.
    let names = try connection.texts(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name")
    hasLongValues = names.contains(LongValue.table)
    for name in names where name != "row_digest" && !Self.derivedTables.contains(name) {
      let columns = try connection.texts("SELECT name FROM pragma_table_info(\(Table.quoted(name, by: "'"))) ORDER BY cid")
      tables.append(
        Table(
          name: name, columns: Self.chains[name] ?? columns, hasNamespace: columns.contains("ns"),
          longColumn: hasLongValues ? LongValue.columns[name] : nil))
    }
    self.tables = tables
    let code = sqlite3_create_function_v2(
      connection.handle, "doubloon_row", -1, SQLITE_UTF8, Unmanaged.passUnretained(self).toOpaque(),
      { context, count, values in
        guard let digests = sqlite3_user_data(context), let values, count >= 3 else { return }
        Unmanaged<RowDigests>.fromOpaque(digests).takeUnretainedValue()
          .take(UnsafeBufferPointer(start: values, count: Int(count)))
      }, nil, nil, nil)
    guard code == SQLITE_OK else { throw connection.error(code, during: "making a function") }
  }

  /// Follows every change from now on, from what the store says that its tables hold.
  static func follow(_ connection: SQLiteConnection) throws(StorageError) -> RowDigests {
    let digests = try RowDigests(connection)
    try digests.reload()
    // A row that is replaced was removed: without this no trigger says so.
    try connection.execute("PRAGMA recursive_triggers = 1")
    for (index, table) in digests.tables.enumerated() {
      let add = "SELECT doubloon_row(1, \(index), \(table.arguments("NEW.")));"
      let remove = "SELECT doubloon_row(-1, \(index), \(table.arguments("OLD.")));"
      // The value goes when its digest has been taken off.
      let (gone, other) = table.longColumn == nil ? ("", "") : LongValue.removals(from: table.name)
      let events = [
        ("INSERT", add), ("DELETE", remove + gone), ("UPDATE OF \(table.quotedColumns)", remove + add + other),
      ]
      for (event, actions) in events {
        try connection.execute(
          "CREATE TEMP TRIGGER row_digest_\(index)_\(event.prefix(6)) AFTER \(event) ON main.\(table.quotedName) BEGIN \(actions) END"
        )
      }
    }
    if digests.hasLongValues { try LongValue.follow(connection) }
    return digests
  }

  /// What the store says that its tables hold.
  static func stored(on connection: SQLiteConnection) throws(StorageError) -> [Key: RowSetDigest] {
    let rows = try SQLiteStatement(
      "SELECT ns, name, row_count, digest FROM row_digest WHERE name <> '\(SQLiteConnection.journalName)'", on: connection,
      isKept: false)
    let found = try rows.all { row throws(StorageError) -> (Key, RowSetDigest) in
      guard let digest = RowSetDigest(count: row.int(2), bytes: row.bytes(3)) else { throw connection.damaged("a digest") }
      return (Key(ns: row.int(0), table: try row.text(1)), digest)
    }
    return Dictionary(found) { $1 }
  }

  /// Reads everything, and adds it up.
  ///
  /// - Parameter failed: told of a table that cannot be read to its end.
  func addUp(failed: (String, StorageError) throws(StorageError) -> Void) throws(StorageError) {
    sums = [Key(ns: 0, table: Self.schemaName): try schemaDigest()]
    for (index, table) in tables.enumerated() {
      do throws(StorageError) {
        let rows = try SQLiteStatement(
          "SELECT doubloon_row(1, \(index), \(table.arguments(table.quotedName + "."))) FROM \(table.quotedName)",
          on: connection, isKept: false)
        try rows.run()
      } catch {
        try failed(table.name, error)
      }
    }
    changed = Set(sums.keys)
  }

  private func schemaDigest() throws(StorageError) -> RowSetDigest {
    var digest = RowSetDigest()
    let rows = try connection.texts(
      "SELECT quote(type) || quote(name) || quote(tbl_name) || quote(sql) FROM sqlite_master")
    for row in rows { Array(row.utf8).withUnsafeBytes { digest.add($0) } }
    return digest
  }

  /// Writes what has changed, and counts the transaction; in the transaction that changed it.
  func write() throws(StorageError) {
    let put = try prepared(&putting, sql: SQL.insert("row_digest", "ns, name, row_count, digest", replacing: true))
    transactions += 1
    try put.bind(0).bind(Self.transactionsName).bind(transactions).bind(Self.count(transactions).bytes).run()
    let remove = try prepared(&removing, sql: "DELETE FROM row_digest WHERE ns = ? AND name = ?")
    for key in changed.sorted() {
      // Of no rows, but not the digest of none: one that went had been changed. That stays to be told.
      if let digest = sums[key], digest != RowSetDigest() {
        try put.bind(key.ns).bind(key.table).bind(digest.count).bind(digest.bytes).run()
      } else {
        sums[key] = nil
        try remove.bind(key.ns).bind(key.table).run()
      }
    }
    changed = []
  }

  /// Takes what the store says: at first, and after a transaction that was rolled back.
  func reload() throws(StorageError) {
    sums = try Self.stored(on: connection)
    transactions = sums.removeValue(forKey: Self.transactionsKey)?.count ?? 0
    changed = []
  }

  static let transactionsKey = Key(ns: 0, table: transactionsName)

  /// The row that says how many transactions there were: the digest proves the number.
  static func count(_ transactions: Int64) -> RowSetDigest {
    withUnsafeBytes(of: transactions.littleEndian) { RowSetDigest(count: transactions, row: $0) }
  }

  /// Takes the function back, which must not outlive what it calls.
  func end() {
    sqlite3_create_function_v2(connection.handle, "doubloon_row", -1, SQLITE_UTF8, nil, nil, nil, nil, nil)
  }

  private func prepared(_ statement: inout SQLiteStatement?, sql: String) throws(StorageError) -> SQLiteStatement {
    if let statement { return statement }
    let made = try SQLiteStatement(sql, on: connection, isKept: true)
    statement = made
    return made
  }

  /// Takes the arguments of the function: 1 or -1, the number of the table, whose row it is, and the columns.
  private func take(_ values: UnsafeBufferPointer<OpaquePointer?>) {
    let index = Int(sqlite3_value_int64(values[1]))
    guard tables.indices.contains(index) else { return }
    let key = Key(ns: sqlite3_value_int64(values[2]), table: tables[index].name)
    row.removeAll(keepingCapacity: true)
    for value in values[3...] { append(value) }
    let isAdded = sqlite3_value_int64(values[0]) > 0
    row.withUnsafeBytes { bytes in
      if isAdded { sums[key, default: RowSetDigest()].add(bytes) } else { sums[key, default: RowSetDigest()].remove(bytes) }
    }
    changed.insert(key)
  }

  /// A column with its type: 1 as text is not the number 1.
  private func append(_ value: OpaquePointer?) {
    let type = sqlite3_value_type(value)
    row.append(UInt8(truncatingIfNeeded: type))
    switch type {
    case SQLITE_INTEGER: withUnsafeBytes(of: sqlite3_value_int64(value).littleEndian) { row.append(contentsOf: $0) }
    case SQLITE_FLOAT:
      withUnsafeBytes(of: sqlite3_value_double(value).bitPattern.littleEndian) { row.append(contentsOf: $0) }
    case SQLITE_NULL: return
    default:
      let bytes = sqlite3_value_blob(value)
      let count = Int(sqlite3_value_bytes(value))
      withUnsafeBytes(of: UInt64(count).littleEndian) { row.append(contentsOf: $0) }
      if let bytes { row.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count)) }
    }
  }
}

extension SQLiteConnection {
  /// Adds up all tables and says so in the store: for one that was just made or brought up to date.
  func writeDigests() throws(StorageError) {
    let digests = try RowDigests(self)
    try digests.reload()
    try digests.addUp { _, error throws(StorageError) in throw error }
    try execute("DELETE FROM row_digest")
    try digests.write()
    digests.end()
  }
}
