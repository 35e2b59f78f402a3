import Glibc
import StorageCore
import Synchronization
import Testing
import TreeModel

@testable import StorageSQLite

/// A store of schema 1, whose long values stand in their rows, becomes one of schema 2.
@Suite("Upgrading long values")
struct LongUpgradeTests {
  let folder = TemporaryFolder()
  private var data: String { folder.file("data") }
  private var file: String { data + "/doubloon.db" }

  /// Makes a store of schema 1 in the middle of a merge; returns the tree of every revision.
  private func makeStore() throws -> [[StoredLeaf]] {
    let engine = try SQLiteEngine(directory: data, options: tinyOptions)
    let committer = try Committer(engine)
    for value in 1...90 {
      try committer.put([
        at("/a/\(value % 5)"): text(storedBytes: 700 + 10 * value), at("/b"): text(storedBytes: value % 2 == 0 ? 30 : 6000),
      ])
      try committer.session.commit()
      if value == 50 { try committer.prune(through: Revision(9), of: engine) }
    }
    committer.session.put(
      IdempotencyRecord(
        key: "k", requestDigest: [1], revision: Revision(1), answer: [UInt8](repeating: 0xFE, count: 9000), expiresAt: 100),
      in: committer.ns)
    try committer.session.commit()
    for _ in 0..<100 {
      _ = try engine.compact()
      if try engine.rows("SELECT count(*) FROM history_run WHERE state = 'retired'") != ["0"] { break }
    }
    #expect(try engine.rows("SELECT count(*) FROM history_run WHERE state = 'retired'") != ["0"])
    let states = try states(of: engine, committer.ns)
    engine.close()
    try FirstSchema.restore(file)
    return states
  }

  private func states(of engine: SQLiteEngine, _ ns: NamespaceID) throws -> [[StoredLeaf]] {
    try (9...90 as ClosedRange<Int64>).map { revision in
      try engine.read { snapshot throws in try snapshot.leaves(in: ns, under: .root, asOf: Revision(revision), limit: .max) }
    }
  }

  /// The digests of all tables but what counts transactions, versions and the schema itself.
  private func digests(of path: String) throws -> [String] {
    let connection = try SQLiteConnection(path: path)
    defer { connection.close() }
    return try connection.texts(
      "SELECT ns || name || row_count || hex(digest) FROM row_digest WHERE name NOT IN ('transactions', 'meta', 'sqlite_schema') ORDER BY 1"
    )
  }

  private func schema(of path: String) throws -> [String] {
    let connection = try SQLiteConnection(path: path)
    defer { connection.close() }
    return try connection.texts("SELECT name || coalesce(sql, '') FROM sqlite_master ORDER BY name")
  }

  private func expectWhole(_ path: String, _ expected: [[StoredLeaf]], _ when: String) throws {
    let engine = try SQLiteEngine(directory: path, options: tinyOptions)
    defer { engine.close() }
    let ns = try #require(try engine.read { try $0.namespaces() }.first).id
    #expect(try engine.check().faults == [], "\(when)")
    #expect(try states(of: engine, ns) == expected, "\(when)")
    #expect(try engine.read { try $0.idempotency(in: ns, key: "k") }?.answer == [UInt8](repeating: 0xFE, count: 9000))
    // Merging goes on where it was, and leaves no value without its row.
    try engine.compactAll()
    #expect(try engine.check().faults == [], "merged, \(when)")
    #expect(try states(of: engine, ns) == expected, "merged, \(when)")
  }

  @Test("Every state and every digest stay what they were; what is long stands apart, and the schema is a new store's")
  func whole() throws {
    let expected = try makeStore()
    let before = try digests(of: file)
    try SQLiteEngine(directory: folder.file("fresh")).close()
    try SQLiteEngine(directory: data, options: tinyOptions).close()
    #expect(try digests(of: file) == before)
    #expect(try schema(of: file) == schema(of: folder.file("fresh/doubloon.db")))
    let connection = try SQLiteConnection(path: file)
    for (table, column) in LongValue.columns {
      let limit = ["commit_log", "idempotency"].contains(table) ? LongValue.recordBytesMax : LongValue.leafBytesMax
      let wrong =
        "SELECT count(*) FROM \(table) WHERE (\(LongValue.length(column)) > \(limit)) <> (typeof(\(column)) = 'integer')"
      #expect(try connection.texts(wrong) == ["0"], "\(table)")
      #expect(
        try connection.texts("SELECT count(*) > 0 FROM \(table) WHERE typeof(\(column)) = 'integer'") == ["1"], "\(table)")
    }
    connection.close()
    try expectWhole(data, expected, "upgraded")
  }

  @Test("A process that dies at any moment of it leaves a store that the next start completes")
  func deaths() throws {
    let expected = try makeStore()
    let points = Mutex<[StoreUpgrade.Point]>([])
    let (data, folder) = (data, folder)
    let settings = StoreUpgrade.Settings(reached: { point in
      // What a kill -9 leaves is what the files hold at that moment.
      let index = points.withLock { points in
        points.append(point)
        return points.count
      }
      mkdir(folder.file("death-\(index)"), 0o700)
      for name in FileCalls.names(in: data) where name != "doubloon.lock" {
        try? FileCalls.copy("\(data)/\(name)", to: "\(folder.file("death-\(index)"))/\(name)")
      }
    })
    try SQLiteEngine(folder: DataFolder(data), options: tinyOptions, upgrade: settings).close()
    let all = points.withLock { $0 }
    #expect(all == [.planned, .copied, .begun, .stepped(1), .verified, .committed])
    for (index, point) in all.enumerated() {
      try expectWhole(folder.file("death-\(index + 1)"), expected, "\(point)")
    }
  }

  @Test("A backup of schema 1 is restored, and brought up to date by the next start")
  func restored() throws {
    let expected = try makeStore()
    try SQLiteEngine.restore(from: file, to: folder.file("restored"))
    try expectWhole(folder.file("restored"), expected, "restored")
  }
}
