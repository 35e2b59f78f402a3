/// How every connection is set up, in one place.
enum Pragmas {
  /// For the connection that makes a file: the page size counts only before the first table, and before WAL.
  static func creation(_ options: SQLiteOptions) -> String {
    "PRAGMA page_size = \(options.pageBytes)"
  }

  /// For the writer.
  ///
  /// - `journal_mode = WAL`: readers go on while the writer writes; a commit is one append and one fsync.
  /// - `synchronous = FULL`: in WAL mode that fsync happens at every commit, and an acknowledgement means the disk.
  /// - `wal_autocheckpoint = 0`: a checkpoint costs many random writes; it runs on its own connection and thread.
  /// - `cache_size`: in KiB when negative. Upserts go to random pages, which the writer should not read again each time.
  /// - `cache_spill = 0`: a batch stays in memory until its commit; pages never go to the WAL twice.
  /// - `foreign_keys = 0`: there are none, by design.
  /// - `busy_timeout`: only a checkpoint that restarts the WAL ever holds the write lock, and not for long.
  /// - `journal_size_limit`: a WAL that grew while a reader stood still is cut when it begins anew.
  static func writer(_ options: SQLiteOptions) -> [String] {
    [
      "PRAGMA journal_mode = WAL",
      "PRAGMA synchronous = FULL",
      "PRAGMA wal_autocheckpoint = 0",
      "PRAGMA cache_size = -\(options.writerCacheBytes / 1024)",
      "PRAGMA cache_spill = 0",
      "PRAGMA foreign_keys = 0",
      "PRAGMA busy_timeout = 10000",
      "PRAGMA journal_size_limit = \(options.walBytesMax)",
      "PRAGMA temp_store = MEMORY",
    ]
  }

  /// For readers. `query_only` makes a mistake an error; `busy_timeout` bridges the moment in which another connection
  /// recovers the WAL of a process that died.
  static func reader(_ options: SQLiteOptions) -> [String] {
    [
      "PRAGMA query_only = 1",
      "PRAGMA wal_autocheckpoint = 0",
      "PRAGMA cache_size = -\(options.readerCacheBytes / 1024)",
      "PRAGMA busy_timeout = 10000",
      "PRAGMA temp_store = MEMORY",
    ]
  }

  /// For merging the history. `synchronous = FULL`: what stands behind a merge in the log proves that the merge was durable,
  /// as of every transaction. No busy timeout: the writer goes first.
  static func compactor(_ options: SQLiteOptions) -> [String] {
    [
      "PRAGMA synchronous = FULL",
      "PRAGMA wal_autocheckpoint = 0",
      "PRAGMA cache_size = -\(options.readerCacheBytes / 1024)",
      "PRAGMA busy_timeout = 0",
      "PRAGMA temp_store = MEMORY",
    ]
  }

  /// For checkpoints: `synchronous = FULL` makes them sync the WAL before and the main file after. No busy timeout: a
  /// checkpoint that meets a reader does what it can and comes back later.
  static func checkpointer(_ options: SQLiteOptions) -> [String] {
    [
      "PRAGMA synchronous = FULL",
      "PRAGMA wal_autocheckpoint = 0",
      "PRAGMA busy_timeout = 0",
      "PRAGMA journal_size_limit = \(options.walBytesMax)",
    ]
  }
}
