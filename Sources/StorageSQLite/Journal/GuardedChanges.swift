internal import CSQLite
internal import StorageCore

/// What one transaction makes of the rows that a journal guards: of each row, what became of it in the end.
struct GuardedChanges {
  private struct Name: Hashable {
    let table: String
    let key: [JournalRow.Value]
  }

  private var all: [JournalRow?] = []
  private var places: [Name: Int] = [:]

  /// In the order in which they were changed first.
  var rows: [JournalRow] { all.compactMap(\.self) }

  /// Adds a change to those before it.
  mutating func add(_ row: JournalRow, keyColumns: [String]) {
    let source = row.operation == .inserted ? row.values : row.key
    let name = Name(table: row.table, key: keyColumns.map { source[$0] ?? .null })
    guard let place = places[name], let before = all[place] else {
      places[name] = all.count
      return all.append(row)
    }
    switch (before.operation, row.operation) {
    case (.inserted, .removed):
      // As if it had never been.
      all[place] = nil
      places[name] = nil
    case (_, .updated):
      let values = before.values.merging(row.values) { $1 }
      all[place] = JournalRow(table: row.table, operation: before.operation, key: before.key, values: values)
    case (.updated, _): all[place] = row
    default:
      // Removed, and there again: both are told, the removal first.
      places[name] = all.count
      all.append(row)
    }
  }
}

extension JournalRow.Value {
  /// A value of SQLite's, as a journal is told it; NULL where there is none.
  init(_ value: OpaquePointer?) {
    switch value.map({ sqlite3_value_type($0) }) ?? SQLITE_NULL {
    case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
    case SQLITE_TEXT: self = .text(String(decoding: UnsafeRawBufferPointer(contentOf: value), as: UTF8.self))
    case SQLITE_BLOB: self = .bytes(Array(UnsafeRawBufferPointer(contentOf: value)))
    default: self = .null
    }
  }
}

extension SQLiteStatement {
  /// A column's value, as a journal is told it.
  func journalValue(_ column: Int32) throws(StorageError) -> JournalRow.Value {
    switch type(of: column) {
    case SQLITE_INTEGER: .integer(int(column))
    case SQLITE_TEXT: .text(try text(column))
    case SQLITE_BLOB: .bytes(bytes(column))
    default: .null
    }
  }
}
