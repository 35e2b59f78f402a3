internal import CSQLite
internal import StorageCore
internal import TreeModel

/// Follows every row that a connection changes, in every table of the store, those that triggers change among them.
///
/// SQLite's pre-update hook (https://www.sqlite.org/c3ref/preupdate_count.html) tells of each row before it is changed, and that is
/// written down at once. The session extension's own recorder takes a session for each batch, which learns each table's columns
/// again, and reads each row again at the end. What a statement had changed before it failed is told here, too, and what is rolled
/// back to a savepoint would be: the store has no savepoints, and a statement that fails ends its transaction.
///
/// For one thread at a time, as its connection.
final class ChangeCapture {
  /// A table of the store, and what was changed in it.
  private struct Table {
    let name: String
    let columns: [String]
    /// Of each column its place in the primary key; 0: none.
    let key: [UInt8]
    let keyColumns: [String]
    let header: Patchset.Header
    let isGuarded: Bool
    var changes = Patchset()
  }

  /// Not the connection: this ends the hook while that is being taken down.
  private let handle: OpaquePointer
  private let path: String
  private var tables: [Table] = []
  private var indices: [String: Int] = [:]
  /// The table of the last change: most changes are of the same as the one before.
  private var last = 0
  /// Tables that were changed, in the order in which they first were.
  private var changed: [Int] = []
  private var guarded = GuardedChanges()
  private var failure: StorageError?

  init(_ connection: SQLiteConnection) throws(StorageError) {
    handle = connection.handle
    path = connection.path
    // Not SQLite's own.
    for name in try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'") {
      let about = "pragma_table_info('\(name.replacing("'", with: "''"))') ORDER BY cid"
      let columns = try connection.texts("SELECT name FROM \(about)")
      let key = try connection.texts("SELECT pk FROM \(about)").map { UInt8($0) ?? 0 }
      guard key.contains(1) else { throw Self.unfollowed("the table \(name), which has no primary key") }
      indices[name] = tables.count
      tables.append(
        Table(
          name: name, columns: columns, key: key, keyColumns: zip(columns, key).filter { $0.1 != 0 }.map(\.0),
          header: Patchset.Header(table: name, key: key), isGuarded: JournalRow.guardedTables.contains(name)))
    }
    sqlite3_preupdate_hook(
      handle,
      { context, _, operation, database, table, _, _ in
        // "main": what is temporary is not of the store.
        guard let context, let table, database?.pointee == CChar(UInt8(ascii: "m")) else { return }
        Unmanaged<ChangeCapture>.fromOpaque(context).takeUnretainedValue().note(operation, in: table)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    end()
  }

  /// Whether no row was changed since the last ``take()``.
  var isEmpty: Bool { changed.isEmpty && failure == nil }

  /// The rows that were changed, and begins again with none. Inside the transaction that changed them.
  ///
  /// - Returns: all of them as a patchset, and those of the tables that a journal guards.
  func take() throws(StorageError) -> (changes: [UInt8], guarded: [JournalRow]) {
    defer { forget() }
    if let failure { throw failure }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(changed.reduce(0) { $0 + tables[$1].header.bytes.count + tables[$1].changes.bytes.count })
    for index in changed {
      bytes += tables[index].header.bytes
      bytes += tables[index].changes.bytes
    }
    return (bytes, guarded.rows)
  }

  /// Forgets what was changed: after a rollback.
  func forget() {
    for index in changed { tables[index].changes.removeAll() }
    changed.removeAll(keepingCapacity: true)
    guarded = GuardedChanges()
    failure = nil
  }

  /// Must be called before the connection is closed.
  func end() {
    guard !hasEnded else { return }
    hasEnded = true
    sqlite3_preupdate_hook(handle, nil, nil)
  }

  private var hasEnded = false

  private static func unfollowed(_ what: String) -> StorageError {
    StorageError(
      .unsuitable,
      "The store has \(what): the other nodes cannot be told of its rows. Nobody but Doubloon may change a store's tables.")
  }

  // MARK: One row

  private func note(_ operation: Int32, in name: UnsafePointer<CChar>) {
    guard failure == nil, let index = index(of: name) else { return }
    let count = Int(sqlite3_preupdate_count(handle))
    guard count == tables[index].key.count else {
      failure = Self.unfollowed("the table \(tables[index].name), whose columns have changed")
      return
    }
    if tables[index].changes.bytes.isEmpty { changed.append(index) }
    switch operation {
    case SQLITE_INSERT: insert(into: index)
    case SQLITE_DELETE: remove(from: index)
    default: update(index)
    }
    // An update that changed nothing.
    if tables[index].changes.bytes.isEmpty { changed.removeLast() }
  }

  private func index(of name: UnsafePointer<CChar>) -> Int? {
    if sqlite3_stricmp(name, tables[last].name) == 0 { return last }
    guard let index = indices[String(cString: name)] else {
      failure = Self.unfollowed("the table \(String(cString: name)), which was made meanwhile")
      return nil
    }
    last = index
    return index
  }

  private func insert(into index: Int) {
    var row: [String: JournalRow.Value] = [:]
    tables[index].changes.begin(SQLITE_INSERT)
    for column in tables[index].key.indices {
      let value = newValue(column)
      tables[index].changes.put(value)
      if tables[index].isGuarded { row[tables[index].columns[column]] = JournalRow.Value(value) }
    }
    if tables[index].isGuarded { note(.inserted, index, key: [:], values: row) }
  }

  private func remove(from index: Int) {
    var key: [String: JournalRow.Value] = [:]
    tables[index].changes.begin(SQLITE_DELETE)
    for column in tables[index].key.indices where tables[index].key[column] != 0 {
      let value = oldValue(column)
      tables[index].changes.put(value)
      if tables[index].isGuarded { key[tables[index].columns[column]] = JournalRow.Value(value) }
    }
    if tables[index].isGuarded { note(.removed, index, key: key, values: [:]) }
  }

  private func update(_ index: Int) {
    for column in tables[index].key.indices
    where tables[index].key[column] != 0 && !isSame(oldValue(column), newValue(column)) {
      // Another row, to who knows rows by their keys.
      remove(from: index)
      return insert(into: index)
    }
    var (key, row): ([String: JournalRow.Value], [String: JournalRow.Value]) = ([:], [:])
    var isChanged = false
    let start = tables[index].changes.bytes.count
    tables[index].changes.begin(SQLITE_UPDATE)
    for column in tables[index].key.indices {
      let (old, new) = (oldValue(column), newValue(column))
      let isKey = tables[index].key[column] != 0
      guard isKey || !isSame(old, new) else {
        tables[index].changes.putUnchanged()
        continue
      }
      tables[index].changes.put(new)
      isChanged = isChanged || !isKey
      guard tables[index].isGuarded else { continue }
      let name = tables[index].columns[column]
      if isKey { key[name] = JournalRow.Value(old) } else { row[name] = JournalRow.Value(new) }
    }
    guard isChanged else { return tables[index].changes.cut(to: start) }
    if tables[index].isGuarded { note(.updated, index, key: key, values: row) }
  }

  private func note(
    _ operation: JournalRow.Operation, _ index: Int, key: [String: JournalRow.Value], values: [String: JournalRow.Value]
  ) {
    let row = JournalRow(table: tables[index].name, operation: operation, key: key, values: values)
    guarded.add(row, keyColumns: tables[index].keyColumns)
  }

  private func oldValue(_ column: Int) -> OpaquePointer? {
    var value: OpaquePointer?
    check(sqlite3_preupdate_old(handle, Int32(truncatingIfNeeded: column), &value), value)
    return value
  }

  private func newValue(_ column: Int) -> OpaquePointer? {
    var value: OpaquePointer?
    check(sqlite3_preupdate_new(handle, Int32(truncatingIfNeeded: column), &value), value)
    return value
  }

  /// A row that the disk does not give has no values; what is written down of it then is told to nobody.
  private func check(_ code: Int32, _ value: OpaquePointer?) {
    guard code != SQLITE_OK || value == nil else { return }
    failure = StorageError(
      sqlite: code == SQLITE_OK ? SQLITE_NOMEM : code, message: String(cString: sqlite3_errstr(code)), path: path,
      during: "following what a batch changes")
  }

  private func isSame(_ first: OpaquePointer?, _ second: OpaquePointer?) -> Bool {
    guard let first, let second else { return false }
    let type = sqlite3_value_type(first)
    guard type == sqlite3_value_type(second) else { return false }
    switch type {
    case SQLITE_INTEGER: return sqlite3_value_int64(first) == sqlite3_value_int64(second)
    case SQLITE_FLOAT: return sqlite3_value_double(first).bitPattern == sqlite3_value_double(second).bitPattern
    case SQLITE_TEXT, SQLITE_BLOB:
      return UnsafeRawBufferPointer(contentOf: first).isSame(as: UnsafeRawBufferPointer(contentOf: second))
    default: return true
    }
  }
}
