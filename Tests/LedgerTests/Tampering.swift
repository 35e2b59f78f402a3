import CSQLite
import Testing

/// Changes a store's file behind the program's back; the store must be closed.
func execute(_ sql: String, in path: String) throws {
  var connection: OpaquePointer?
  try #require(sqlite3_open(path, &connection) == SQLITE_OK)
  defer { sqlite3_close(connection) }
  try #require(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK)
  try #require(sqlite3_total_changes(connection) > 0)
}
