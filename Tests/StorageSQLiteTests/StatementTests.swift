import StorageCore
import TestSupport
import Testing

@testable import StorageSQLite

/// Values on their way into a statement: whether they fit the statement's own buffer or not, a row has what was bound.
@Suite struct StatementTests {
  @Test("a row has what was bound, whatever of it fits the buffer, and nothing of the row before")
  func buffer() throws {
    let folder = TemporaryFolder()
    let db = try SQLiteConnection(path: folder.file("bound.sqlite"), creates: true)
    defer { db.close() }
    try db.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, a BLOB, b TEXT, c BLOB)")
    let insert = try SQLiteStatement("INSERT INTO t VALUES (?, ?, ?, ?)", on: db, isKept: true)
    // Sums of 1,023 to 1,026; a middle one that does not fit between two that do; long ones before short and empty ones.
    let sizes = [
      (512, 512, 0), (512, 513, 0), (1024, 0, 1), (1025, 0, 0), (500, 900, 500), (0, 5000, 3), (340, 341, 342), (1, 1, 1),
      (341, 341, 342), (0, 0, 0), (1023, 1, 1), (3, 1021, 2),
    ]
    func bytes(_ count: Int, _ seed: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) } }
    func text(_ count: Int, _ seed: Int) -> String { String(decoding: bytes(count, seed).map { 32 + $0 % 90 }, as: UTF8.self) }
    for (n, size) in sizes.enumerated() {
      try insert.bind(Int64(n)).bind(bytes(size.0, n)).bind(text(size.1, n)).bind(bytes(size.2, n + 7)).run()
    }
    let rows = try SQLiteStatement("SELECT a, b, c, typeof(a), typeof(b) FROM t ORDER BY n", on: db, isKept: false)
    let found = try rows.all { row throws(StorageError) in
      (row.bytes(0), try row.text(1), row.bytes(2), try row.text(3), try row.text(4))
    }
    #expect(found.count == sizes.count)
    for (n, size) in sizes.enumerated() {
      #expect(found[n].0 == bytes(size.0, n) && found[n].1 == text(size.1, n) && found[n].2 == bytes(size.2, n + 7), "\(size)")
      #expect(found[n].3 == "blob" && found[n].4 == "text")
    }
  }

  @Test("what was bound and large is forgotten when the statement has run, and what is small needs no second look")
  func largeValues() throws {
    let folder = TemporaryFolder()
    let db = try SQLiteConnection(path: folder.file("bound.sqlite"), creates: true)
    defer { db.close() }
    let length = try SQLiteStatement("SELECT length(?)", on: db, isKept: true)
    for (size, isForgotten) in [(10, false), (64 << 10, false), ((64 << 10) + 1, true), (1 << 20, true)] {
      let found = try length.bind([UInt8](repeating: 7, count: size)).first { row throws(StorageError) in row.int(0) }
      #expect(found == Int64(size))
      // Nothing is bound this time: what is there is what the last run left.
      let left = try length.first { row throws(StorageError) in row.optionalInt(0) }
      #expect(left == .some(isForgotten ? nil : Int64(size)), "\(size)")
    }
  }

  @Test("the statements of all groups have slots of their own, and a text")
  func slots() {
    func check<Group: PreparedQuery>(_ group: Group.Type) -> [Int] {
      #expect(Group.allCases.count <= SQL.groupMax)
      #expect(Group.allCases.allSatisfy { !$0.sql.isEmpty })
      return Group.allCases.map(\.slot)
    }
    let slots =
      check(TransactionQuery.self) + check(TreeQuery.self) + check(HistoryQuery.self) + check(LogQuery.self)
      + check(FunctionQuery.self) + check(LedgerQuery.self) + check(RecordQuery.self) + check(IndexQuery.self)
    #expect(Set(slots).count == slots.count)
    #expect(slots.allSatisfy { $0 < SQL.groupCount * SQL.groupMax })
  }
}
