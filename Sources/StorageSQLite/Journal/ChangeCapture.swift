internal import CSQLite
internal import StorageCore

/// Follows every row that a connection changes, in every table of the store, those that triggers change among them.
///
/// By SQLite's session extension: https://www.sqlite.org/sessionintro.html. For one thread at a time, as its connection.
final class ChangeCapture {
  private unowned let connection: SQLiteConnection
  private var session: OpaquePointer?

  init(_ connection: SQLiteConnection) throws(StorageError) {
    self.connection = connection
    try begin()
  }

  deinit {
    end()
  }

  /// Whether no row was changed since the last ``take()``.
  var isEmpty: Bool { sqlite3session_isempty(session) != 0 }

  /// The rows that were changed, as they are now, and begins again with none. Inside the transaction that changed them.
  func take() throws(StorageError) -> [UInt8] {
    var size: Int32 = 0
    var bytes: UnsafeMutableRawPointer?
    let code = sqlite3session_patchset(session, &size, &bytes)
    defer { sqlite3_free(bytes) }
    guard code == SQLITE_OK else { throw connection.error(code, during: "collecting what a batch changes") }
    let changes = bytes.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: Int(size))) } ?? []
    try restart()
    return changes
  }

  /// Forgets what was changed: after a rollback.
  func restart() throws(StorageError) {
    end()
    try begin()
  }

  /// Must be called before the connection is closed.
  func end() {
    if let session { sqlite3session_delete(session) }
    session = nil
  }

  private func begin() throws(StorageError) {
    var code = sqlite3session_create(connection.handle, "main", &session)
    // Of all tables.
    if code == SQLITE_OK { code = sqlite3session_attach(session, nil) }
    guard code == SQLITE_OK else { throw connection.error(code, during: "following what a batch changes") }
  }
}
