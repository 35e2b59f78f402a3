import StorageCore
import TestSupport
import Testing

@testable import StorageSQLite

/// The layer over SQLite's page cache: it may leave out searches, never pages.
@Suite struct PageCacheTests {
  /// Blobs of random sizes under random keys split, merge and renumber pages; what is taken back and what a vacuum cuts off
  /// must be forgotten by the cache.
  @Test("splits, rollbacks and a shrinking file leave a sound store", arguments: [1, 2, 3])
  func churn(seed: UInt64) throws {
    let folder = TemporaryFolder()
    let db = try SQLiteConnection(path: folder.file("churn.sqlite"), creates: true)
    defer { db.close() }
    for sql in [
      "PRAGMA page_size = 512", "PRAGMA auto_vacuum = INCREMENTAL", "PRAGMA journal_mode = WAL", "PRAGMA cache_size = 40",
      "CREATE TABLE t (k INTEGER NOT NULL, n INTEGER NOT NULL, b BLOB NOT NULL, PRIMARY KEY (k, n)) WITHOUT ROWID",
    ] { try db.execute(sql) }
    var random = SplitMix64(seed: seed)
    var model: [Int64: Int] = [:]
    for round in 0..<60 {
      var next = model
      try db.execute("BEGIN")
      for _ in 0..<60 {
        let key = Int64.random(in: 0..<400, using: &random)
        let count = Int.random(in: 1...300, using: &random)
        if Int.random(in: 0..<3, using: &random) == 0 {
          try db.execute("DELETE FROM t WHERE k = \(key)")
          next[key] = nil
        } else {
          try db.execute("INSERT OR REPLACE INTO t VALUES (\(key), 1, zeroblob(\(count)))")
          next[key] = count
        }
      }
      let isKept = round % 4 != 3
      try db.execute(isKept ? "COMMIT" : "ROLLBACK")
      if isKept { model = next }
      if round % 10 == 9 {
        try db.execute("DELETE FROM t WHERE k >= 100")
        model = model.filter { $0.key < 100 }
        try db.execute("PRAGMA incremental_vacuum")
        try db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      }
    }
    #expect(try db.texts("PRAGMA integrity_check") == ["ok"])
    let rows = try SQLiteStatement("SELECT k, length(b) FROM t ORDER BY k", on: db, isKept: false)
    let found = try rows.all { row throws(StorageError) in (row.int(0), Int(row.int(1))) }
    #expect(found.map(\.0) == model.keys.sorted())
    #expect(found.allSatisfy { model[$0.0] == $0.1 })
  }

  @Test("SQLite has taken the layer")
  func installed() throws {
    #expect(SQLiteLibrary.isPrepared)
  }
}
