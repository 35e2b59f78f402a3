import CSQLite
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
    var model: [Int64: String] = [:]
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
          let content = String(repeating: "\(UInt64.random(in: 0...(.max), using: &random))", count: count / 18 + 1)
          try db.execute("INSERT OR REPLACE INTO t VALUES (\(key), 1, CAST('\(content)' AS BLOB))")
          next[key] = content
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
    // As the connection's own cache has it, and as the file has it.
    let other = try SQLiteConnection(path: folder.file("churn.sqlite"), creates: false)
    defer { other.close() }
    for connection in [db, other] {
      let rows = try SQLiteStatement("SELECT k, CAST(b AS TEXT) FROM t ORDER BY k", on: connection, isKept: false)
      let found = try rows.all { row throws(StorageError) in (row.int(0), try row.text(1)) }
      #expect(found.map(\.0) == model.keys.sorted())
      #expect(found.allSatisfy { model[$0.0] == $0.1 })
    }
  }

  @Test("pages that swap their numbers by way of the lock page's keep their content, and what lies beyond the end goes")
  func lockPage() throws {
    #expect(SQLiteLibrary.isPrepared && sqlite3_initialize() == SQLITE_OK)
    let methods = PageCache.layered(try #require(PageCache.methodsBelow).pointee)
    let cache = try #require(methods.xCreate(4096, 64, 1))
    defer { methods.xDestroy(cache) }
    methods.xCachesize(cache, 100)
    func page(_ number: UInt32) throws -> UnsafeMutablePointer<sqlite3_pcache_page> {
      let page = try #require(methods.xFetch(cache, number, 2))
      page.pointee.pBuf.storeBytes(of: number, as: UInt32.self)
      return page
    }
    func holds(_ number: UInt32) -> Bool {
      guard let page = methods.xFetch(cache, number, 0) else { return false }
      methods.xUnpin(cache, page, 0)
      return true
    }
    let lockPage: UInt32 = 0x4000_0000 / 4096 + 1
    for number in 1...20 as ClosedRange<UInt32> { methods.xUnpin(cache, try page(number), 0) }
    // As the balancing of a node does: one page away, another into its place, the first to where the other was.
    let (seven, nine) = (try page(7), try page(9))
    methods.xRekey(cache, seven, 7, lockPage)
    methods.xRekey(cache, nine, 9, 7)
    #expect(!holds(9))
    methods.xRekey(cache, seven, lockPage, 9)
    methods.xUnpin(cache, seven, 0)
    methods.xUnpin(cache, nine, 0)
    #expect((1...20).allSatisfy { holds(UInt32($0)) } && !holds(lockPage))
    for (number, content) in [(7, 9), (9, 7), (8, 8)] as [(UInt32, UInt32)] {
      let page = try #require(methods.xFetch(cache, number, 0))
      #expect(page.pointee.pBuf.load(as: UInt32.self) == content)
      methods.xUnpin(cache, page, 0)
    }
    methods.xTruncate(cache, 21)
    #expect((1...20).allSatisfy { holds(UInt32($0)) })
    methods.xTruncate(cache, 20)
    #expect(!holds(20) && holds(19) && methods.xPagecount(cache) == 19)
    // One that stays under the lock page's number goes with the rest.
    let ten = try page(10)
    methods.xRekey(cache, ten, 10, lockPage)
    methods.xUnpin(cache, ten, 0)
    methods.xTruncate(cache, 20)
    #expect(!holds(lockPage) && holds(19) && !holds(10))
    methods.xTruncate(cache, 0)
    #expect(methods.xPagecount(cache) == 0)
  }

  @Test("SQLite has taken the layer")
  func installed() throws {
    #expect(SQLiteLibrary.isPrepared)
  }
}
