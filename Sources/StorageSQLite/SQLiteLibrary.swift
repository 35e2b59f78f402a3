internal import CSQLite

/// What is set once for the process, before SQLite is used.
enum SQLiteLibrary {
  /// Does it, the first time.
  static func prepare() {
    _ = isPrepared
  }

  // If somebody else in the process has used SQLite before, it refuses: it is slower, and no less right.
  static let isPrepared = csqlite_stop_counting_memory() == SQLITE_OK && PageCache.install()
}
