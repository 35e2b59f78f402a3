import CSQLite

@testable import StorageSQLite

/// Counts the rows that a connection's statements come to, for as long as it is kept.
final class RowCount {
  private let connection: SQLiteConnection
  private let place: UnsafeMutablePointer<Int>

  var count: Int { place.pointee }

  init(_ connection: SQLiteConnection) throws {
    self.connection = connection
    place = .allocate(capacity: 1)
    place.initialize(to: 0)
    let code = sqlite3_trace_v2(
      connection.handle, UInt32(SQLITE_TRACE_ROW),
      { _, context, _, _ in
        context?.assumingMemoryBound(to: Int.self).pointee += 1
        return 0
      }, place)
    precondition(code == SQLITE_OK)
  }

  deinit {
    sqlite3_trace_v2(connection.handle, 0, nil, nil)
    place.deallocate()
  }
}
