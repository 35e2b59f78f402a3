internal import CSQLite
internal import StorageCore

/// Reads single rows out of a batch's changes.
struct ChangeRows {
  /// By table, the columns in their order.
  let columns: [String: [String]]

  /// - `tables`: those whose rows will be read.
  init(_ tables: [String], on connection: SQLiteConnection) throws(StorageError) {
    var columns: [String: [String]] = [:]
    for table in tables {
      columns[table] = try connection.texts("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
    }
    self.columns = columns
  }

  /// The rows of the tables, in the order in which they stand.
  func read(_ changes: [UInt8]) throws(StorageError) -> [JournalRow] {
    guard !changes.isEmpty else { return [] }
    var rows: [JournalRow] = []
    var bytes = changes
    let code = bytes.withUnsafeMutableBytes { bytes -> Int32 in
      var iterator: OpaquePointer?
      let code = sqlite3changeset_start(&iterator, Int32(bytes.count), bytes.baseAddress)
      guard code == SQLITE_OK else { return code }
      while sqlite3changeset_next(iterator) == SQLITE_ROW {
        if let row = row(at: iterator) { rows.append(row) }
      }
      return sqlite3changeset_finalize(iterator)
    }
    guard code == SQLITE_OK else { throw StorageError(.damaged, "A batch's changes cannot be read (SQLite \(code)).") }
    return rows
  }

  private func row(at iterator: OpaquePointer?) -> JournalRow? {
    var (name, count, kind): (UnsafePointer<CChar>?, Int32, Int32) = (nil, 0, 0)
    var isIndirect: Int32 = 0
    guard sqlite3changeset_op(iterator, &name, &count, &kind, &isIndirect) == SQLITE_OK, let name,
      let columns = columns[String(cString: name)], columns.count == Int(count)
    else { return nil }
    var keyed: UnsafeMutablePointer<UInt8>?
    guard sqlite3changeset_pk(iterator, &keyed, &count) == SQLITE_OK, let keyed else { return nil }
    var (key, values): ([String: JournalRow.Value], [String: JournalRow.Value]) = ([:], [:])
    for (index, column) in columns.enumerated() {
      var value: OpaquePointer?
      if kind != SQLITE_INSERT, keyed[index] != 0, sqlite3changeset_old(iterator, Int32(index), &value) == SQLITE_OK {
        key[column] = Self.value(value)
      }
      value = nil
      // A column that an update left alone has none.
      if kind != SQLITE_DELETE, sqlite3changeset_new(iterator, Int32(index), &value) == SQLITE_OK, let value {
        values[column] = Self.value(value)
      }
    }
    let operation: JournalRow.Operation =
      kind == SQLITE_INSERT ? .inserted : kind == SQLITE_DELETE ? .removed : .updated
    return JournalRow(table: String(cString: name), operation: operation, key: key, values: values)
  }

  private static func value(_ value: OpaquePointer?) -> JournalRow.Value {
    guard let value else { return .null }
    let bytes = UnsafeRawBufferPointer(start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value)))
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_TEXT: return .text(String(decoding: bytes, as: UTF8.self))
    case SQLITE_BLOB: return .bytes(Array(bytes))
    default: return .null
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
