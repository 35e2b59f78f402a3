internal import CSQLite
internal import StorageCore
internal import TextFormats

/// One open connection with its prepared statements.
///
/// `@unchecked Sendable`: SQLite is told that it need not lock (`SQLITE_OPEN_NOMUTEX`), so a connection must be used by one
/// thread at a time. It is: the writer's belongs to the write session, whose contract is one thread; a reader's is taken
/// out of ``ReaderPool`` under its lock by one snapshot and given back under the lock; the checkpointer's is used only
/// while its lock is held.
final class SQLiteConnection: @unchecked Sendable {
  let handle: OpaquePointer
  let path: String
  private let isCopy: Bool
  private var statements = [SQLiteStatement?](repeating: nil, count: SQL.groupCount * SQL.groupMax)
  private(set) var isClosed = false
  /// Follows the rows that this connection writes; the writer's does.
  var digests: RowDigests?
  /// Gives this connection's transactions to a journal; nil where the file itself is the truth.
  var recorder: TransactionRecorder?

  /// - `isCopy`: whether the file is a copy in the making, whose faults stop nothing else.
  convenience init(path: String, creates: Bool = false, isCopy: Bool = false, vfs: String? = nil) throws(StorageError) {
    let flags = SQLITE_OPEN_READWRITE | (creates ? SQLITE_OPEN_CREATE : 0)
    try self.init(name: path, path: path, flags: flags, isCopy: isCopy, vfs: vfs)
  }

  /// A look at a file that nobody writes, as if it had no log: nothing is made beside it, and no lock is taken.
  convenience init(unchanging path: String, vfs: String?) throws(StorageError) {
    // What would end the path of a URI, and what is no ASCII.
    let escaped = PercentEncoding.encode(path) { $0 > 0x7E || "%?#".utf8.contains($0) }
    let name = (path.hasPrefix("/") ? "file://" : "file:") + escaped + "?immutable=1"
    try self.init(name: name, path: path, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, isCopy: false, vfs: vfs)
  }

  private init(name: String, path: String, flags: Int32, isCopy: Bool, vfs: String?) throws(StorageError) {
    SQLiteLibrary.prepare()
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(name, &handle, flags | SQLITE_OPEN_NOMUTEX, vfs)
    guard let handle, code == SQLITE_OK else {
      let message = handle.map(Self.message) ?? "out of memory"
      let error = StorageError(sqlite: code, message: message, path: path, during: "opening", isCopy: isCopy)
      sqlite3_close(handle)
      throw error
    }
    sqlite3_extended_result_codes(handle, 1)
    self.handle = handle
    self.path = path
    self.isCopy = isCopy
  }

  deinit {
    close()
  }

  /// Frees the pages that nobody is reading.
  func releaseMemory() {
    sqlite3_db_release_memory(handle)
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    statements = []
    digests = nil
    recorder?.end()
    recorder = nil
    // Every statement was finalized by its deinit or below; close_v2 waits for one that a caller still holds.
    sqlite3_close_v2(handle)
  }

  // One for each group of statements, so that a statement is written without its group.
  func statement(_ query: TransactionQuery) throws(StorageError) -> SQLiteStatement { try prepared(query) }
  func statement(_ query: TreeQuery) throws(StorageError) -> SQLiteStatement { try prepared(query) }
  func statement(_ query: HistoryQuery) throws(StorageError) -> SQLiteStatement { try prepared(query) }
  func statement(_ query: LogQuery) throws(StorageError) -> SQLiteStatement { try prepared(query) }
  func statement(_ query: FunctionQuery) throws(StorageError) -> SQLiteStatement { try prepared(query) }
  func statement(_ query: LedgerQuery) throws(StorageError) -> SQLiteStatement { try prepared(query) }
  func statement(_ query: RecordQuery) throws(StorageError) -> SQLiteStatement { try prepared(query) }
  func statement(_ query: IndexQuery) throws(StorageError) -> SQLiteStatement { try prepared(query) }

  /// The prepared form of a statement; prepared once for each connection.
  private func prepared(_ query: some PreparedQuery) throws(StorageError) -> SQLiteStatement {
    guard !isClosed else { throw StorageError(.stopped, "The store is closed.") }
    let slot = query.slot
    if let statement = statements[slot] { return statement }
    let statement = try SQLiteStatement(query.sql, on: self, isKept: true)
    statements[slot] = statement
    return statement
  }

  /// Runs a script; rows are ignored.
  func execute(_ script: String) throws(StorageError) {
    let code = sqlite3_exec(handle, script, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code, during: "running \(script.prefix(60))") }
  }

  /// The first column of each row, as text; for pragmas and the like.
  func texts(_ sql: String) throws(StorageError) -> [String] {
    try SQLiteStatement(sql, on: self, isKept: false).all { row throws(StorageError) in try row.text(0) }
  }

  func error(_ code: Int32, during action: String) -> StorageError {
    StorageError(sqlite: code, message: Self.message(handle), path: path, during: action, isCopy: isCopy)
  }

  /// Takes note of a commit, for what is said about the log once it is synced.
  func didCommit() {
    guard let digests, let log = LogFileSystem.log(of: handle) else { return }
    log.didCommit(transactions: digests.transactions)
  }

  /// Runs `body` in a transaction of its own, with the digests of what it changes.
  func inTransaction(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    try execute("BEGIN IMMEDIATE")
    do throws(StorageError) {
      try body()
      try digests?.write()
      try commitOnceDurable()
      didCommit()
    } catch {
      if isInTransaction { try? execute("ROLLBACK") }
      recorder?.forget()
      try? digests?.reload()
      throw error
    }
  }

  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  private static func message(_ handle: OpaquePointer) -> String {
    String(cString: sqlite3_errmsg(handle))
  }
}

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
  /// - `journal_size_limit`: a WAL that grew while a reader stood still is cut when it restarts; what is left is used again.
  static func writer(_ options: SQLiteOptions) -> [String] {
    [
      "PRAGMA journal_mode = WAL",
      "PRAGMA synchronous = FULL",
      "PRAGMA wal_autocheckpoint = 0",
      "PRAGMA cache_size = -\(options.writerCacheBytes / 1024)",
      "PRAGMA cache_spill = 0",
      "PRAGMA foreign_keys = 0",
      "PRAGMA busy_timeout = 10000",
      "PRAGMA journal_size_limit = \(options.walBytesKept)",
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
      "PRAGMA journal_size_limit = \(options.walBytesKept)",
    ]
  }
}
