internal import StorageCore

/// Values that are too long to stand in their row: the table `long_value` has them, and the row has their number.
///
/// A row of a table without rowid is one entry of a b-tree. To compare keys beside an entry that is longer than its page SQLite reads
/// that entry whole: beside a text of 10 MB each look-up of a small neighbour copied 10 MB. The keys of `long_value` are numbers
/// that stand apart from the values, so nothing is read there but what was asked for.
///
/// The number is an integer in a column of bytes, which no short value is. A value goes with its row: temporary triggers of each
/// connection that writes remove it, so that no statement can forget it. Rows of the history share one with the rows that they
/// are merged into. What is wrong with numbers is seen by ``StoreCheck``; the values themselves have the witnesses of the rows.
enum LongValue {
  static let table = "long_value"
  /// Longer values of leaves, now and before, stand apart, in bytes.
  static let leafBytesMax = 1000
  /// The same for the changes of commits, and for answers.
  static let recordBytesMax = 4000

  /// By table, the column that may hold a number.
  static let columns = [
    "node": "value", "history": "before", "checkpoint_leaf": "value", "commit_log": "changes", "idempotency": "answer",
  ]

  /// SQL for the value of a column of a row, short or long. The column is named with its table: `long_value` has one of that name.
  static func content(_ column: String) -> String {
    "CASE typeof(\(column)) WHEN 'integer' THEN (SELECT value FROM long_value WHERE id = \(column)) ELSE \(column) END"
  }

  /// SQL for how long the value of a column is; none is read for it.
  static func length(_ column: String) -> String {
    "CASE typeof(\(column)) WHEN 'integer' THEN (SELECT length(value) FROM long_value WHERE id = \(column)) "
      + "ELSE length(\(column)) END"
  }

  /// What a trigger does, beside its own, when a row of a table has gone, and when it has another value.
  static func removals(from table: String) -> (gone: String, other: String) {
    guard let column = columns[table] else { return ("", "") }
    let gone = "DELETE FROM long_value WHERE typeof(OLD.\(column)) = 'integer' AND id = OLD.\(column)"
    return (gone + ";", gone + " AND OLD.\(column) IS NOT NEW.\(column);")
  }

  /// Makes the triggers of the tables that have no digest.
  static func follow(_ connection: SQLiteConnection) throws(StorageError) {
    for (table, column) in columns.sorted(by: { $0.key < $1.key }) where RowDigests.derivedTables.contains(table) {
      let (gone, other) = removals(from: table)
      for (event, name, action) in [("DELETE", "gone", gone), ("UPDATE OF \(column)", "other", other)] {
        try connection.execute(
          """
          CREATE TEMP TRIGGER long_value_\(table)_\(name) AFTER \(event) ON main.\(table)
          WHEN typeof(OLD.\(column)) = 'integer' BEGIN \(action) END
          """)
      }
    }
  }

  /// Makes the trigger of the connection that merges runs: the rows that it removes were merged, and their values are those of the
  /// run that has them now; or they were pruned, and nobody reads them any more.
  static func followMerges(_ connection: SQLiteConnection) throws(StorageError) {
    try connection.execute(
      """
      CREATE TEMP TRIGGER long_history_DELETE AFTER DELETE ON main.history WHEN typeof(OLD.before) = 'integer'
      BEGIN DELETE FROM long_value WHERE id = OLD.before
        AND OLD.revision <= (SELECT pruned_revision FROM namespace WHERE id = OLD.ns); END
      """)
  }
}

/// What stands in a column that may hold a number of a long value: for moving a row as it is.
enum StoredValue {
  case short([UInt8])
  case long(Int64)

  /// What it takes in its row, in bytes.
  var bytes: Int {
    switch self {
    case .short(let bytes): bytes.count
    case .long: MemoryLayout<Int64>.size
    }
  }
}

extension SQLiteConnection {
  /// Calls `decode` with a long value.
  func longValue<Value>(_ id: Int64, _ decode: (UnsafeRawBufferPointer) throws(StorageError) -> Value) throws(StorageError)
    -> Value
  {
    let row = try statement(.longValue)
    defer { row.reset() }
    guard try row.bind(id).step() else { throw damaged("the long value \(id)") }
    return try decode(row.raw(0))
  }

  /// Stores a long value; returns its number.
  fileprivate func putLongValue(_ bytes: [UInt8]) throws(StorageError) -> Int64 {
    let id = try (meta(.lastLongValue) ?? 0) + 1
    try setMeta(.lastLongValue, to: id)
    try statement(.putLongValue).bind(id).bind(Array(bytes.prefix(1))).bind(bytes).run()
    return id
  }
}

extension SQLiteStatement {
  /// Binds a value, or the number under which it is stored because it is longer than `limit` bytes.
  @discardableResult
  func bind(_ bytes: [UInt8], upTo limit: Int) throws(StorageError) -> SQLiteStatement {
    if bytes.count <= limit { return bind(bytes) }
    return bind(try connection.putLongValue(bytes))
  }

  @discardableResult
  func bind(_ value: StoredValue) -> SQLiteStatement {
    switch value {
    case .short(let bytes): bind(bytes)
    case .long(let id): bind(id)
    }
  }

  /// Calls `decode` with the bytes of a column whose value may be long; they are valid until it returns.
  func value<Value>(_ column: Int32, _ decode: (UnsafeRawBufferPointer) throws(StorageError) -> Value) throws(StorageError)
    -> Value
  {
    if isInteger(column) { return try connection.longValue(int(column), decode) }
    return try decode(raw(column))
  }

  func stored(_ column: Int32) -> StoredValue {
    isInteger(column) ? .long(int(column)) : .short(bytes(column))
  }
}
