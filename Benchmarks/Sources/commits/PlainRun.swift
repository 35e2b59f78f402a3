import Measuring
import SQLiteInterface
import StorageCore
import StorageSQLite
import TreeModel

/// SQLite alone, one thread, by its C interface: what the engine's rows cost when nobody decides anything.
///
/// The same schema and settings; for each commit the leaf's row and the log's row, and the past in sorted runs like the
/// engine's. No queue, no tree, no hashes: digests and hashes are bytes of the same length.
struct PlainRun {
  let plan: Plan
  let folder: String
  let groupSize: Int

  private static let historyRun = 8192

  func run() throws -> Measurement {
    let store = try PlainStore(path: folder + "/plain.db")
    defer { store.close() }
    try store.execute("BEGIN IMMEDIATE")
    for player in 0..<plan.players { try store.putNode(try pathBytes(player), revision: 1, level: 0) }
    try store.execute("COMMIT")

    let watch = Stopwatch()
    var draw = Draw(seed: 1)
    var past: [(path: [UInt8], revision: Int64, level: Int64)] = []
    var levels = [Int64](repeating: 0, count: plan.players)
    var done = 0
    var sinceCheckpoint = 0
    while done < plan.commits {
      try store.execute("BEGIN IMMEDIATE")
      // Like the engine, rows of one table together and in key order.
      var batch: [(path: [UInt8], revision: Int64, level: Int64)] = []
      for _ in 0..<min(groupSize, plan.commits - done) {
        let player = draw.next(below: plan.players)
        done += 1
        let path = try pathBytes(player)
        past.append((path, Int64(done) + 1, levels[player]))
        levels[player] = Int64(done)
        batch.append((path, Int64(done) + 1, Int64(done)))
      }
      for row in batch.sorted(by: { $0.path.lexicographicallyPrecedes($1.path) }) {
        try store.putNode(row.path, revision: row.revision, level: row.level)
      }
      for row in batch { try store.putCommit(row.revision, path: row.path, level: row.level) }
      if past.count >= Self.historyRun {
        for row in past.sorted(by: { $0.path.lexicographicallyPrecedes($1.path) }) {
          try store.putHistory(row.path, generation: Int64(done), revision: row.revision, level: row.level)
        }
        past.removeAll(keepingCapacity: true)
      }
      try store.execute("COMMIT")
      sinceCheckpoint += batch.count
      if sinceCheckpoint >= 4096 {
        sinceCheckpoint = 0
        store.checkpoint()
      }
    }
    return watch.stop(commits: plan.commits, groupSize: groupSize)
  }

  private func pathBytes(_ player: Int) throws -> [UInt8] { PathBytes(try EngineRun.path(player)).bytes }
}

/// A store with the engine's schema and settings, and the three statements that a commit needs.
final class PlainStore {
  private let handle: OpaquePointer
  private var node: OpaquePointer?
  private var commit: OpaquePointer?
  private var history: OpaquePointer?

  init(path: String) throws {
    var opened: OpaquePointer?
    guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else { throw BenchmarkError("SQLite cannot open \(path)") }
    handle = opened
    let options = SQLiteOptions()
    for pragma in [
      "page_size = \(options.pageBytes)", "journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 0",
      "cache_size = -\(options.writerCacheBytes / 1024)", "cache_spill = 0",
    ] { try execute("PRAGMA " + pragma) }
    try execute(SchemaScript.text)
    node = try prepare(
      "INSERT INTO node (ns, path, revision, value) VALUES (1, ?, ?, ?) "
        + "ON CONFLICT (ns, path) DO UPDATE SET revision = excluded.revision, value = excluded.value")
    commit = try prepare(
      "INSERT INTO commit_log (ns, revision, epoch, time, actor, suppresses_triggers, digest, hash, changes) "
        + "VALUES (1, ?, 1, 1700000000000, 'admin:bench', 0, ?, ?, ?)")
    history = try prepare("INSERT INTO history (ns, generation, path, revision, before) VALUES (1, ?, ?, ?, ?)")
  }

  func close() {
    for statement in [node, commit, history] { sqlite3_finalize(statement) }
    sqlite3_close(handle)
  }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
  }

  func checkpoint() {
    sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
  }

  func putNode(_ path: [UInt8], revision: Int64, level: Int64) throws {
    bind(node, 1, path)
    sqlite3_bind_int64(node, 2, revision)
    bind(node, 3, Scalar.int(level).storedBytes)
    try step(node)
  }

  func putCommit(_ revision: Int64, path: [UInt8], level: Int64) throws {
    let change = LeafChange(path: PathBytes(bytes: path), before: .int(level), after: .int(level))
    sqlite3_bind_int64(commit, 1, revision)
    bind(commit, 2, [UInt8](repeating: UInt8(truncatingIfNeeded: level), count: 32))
    bind(commit, 3, [UInt8](repeating: UInt8(truncatingIfNeeded: level), count: 32))
    bind(commit, 4, LeafChangeList.encode([change]))
    try step(commit)
  }

  func putHistory(_ path: [UInt8], generation: Int64, revision: Int64, level: Int64) throws {
    sqlite3_bind_int64(history, 1, generation)
    bind(history, 2, path)
    sqlite3_bind_int64(history, 3, revision)
    bind(history, 4, Scalar.int(level).storedBytes)
    try step(history)
  }

  private func prepare(_ sql: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
    return statement
  }

  private func bind(_ statement: OpaquePointer?, _ index: Int32, _ bytes: [UInt8]) {
    // SQLITE_TRANSIENT: SQLite takes a copy.
    sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
  }

  private func step(_ statement: OpaquePointer?) throws {
    defer { sqlite3_reset(statement) }
    guard sqlite3_step(statement) == SQLITE_DONE else { throw failure() }
  }

  private func failure() -> BenchmarkError { BenchmarkError(String(cString: sqlite3_errmsg(handle))) }
}
