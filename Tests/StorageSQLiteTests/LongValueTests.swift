import CSQLite
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import StorageSQLite

/// Values that are too long for their row stand apart, and nobody sees it but by the time that it takes.
@Suite("Long values")
struct LongValueTests {
  let folder = TemporaryFolder()

  private func count(_ engine: SQLiteEngine) throws -> [String] { try engine.rows("SELECT count(*) FROM long_value") }

  private func expectSound(_ engine: SQLiteEngine, _ when: String) throws {
    let faults = try engine.check().faults
    #expect(faults == [], "\(when)")
  }

  @Test(
    "Up to the limit a value stands in its row, beyond it apart; it reads the same",
    arguments: [(2, "blob"), (1000, "blob"), (1001, "integer"), (1002, "integer"), (5000, "integer")])
  func limits(bytes: Int, type: String) throws {
    let engine = try SQLiteEngine.inMemory(options: tinyOptions)
    defer { engine.close() }
    let committer = try Committer(engine)
    let value = text(storedBytes: bytes)
    #expect(value.storedBytes.count == bytes)
    try committer.put([at("/a"): value, at("/b"): 1])
    try committer.session.commit()
    #expect(try engine.rows("SELECT typeof(value) FROM node ORDER BY path") == [type, "blob"])
    #expect(try committer.session.value(in: committer.ns, "/a") == value)
    try engine.read { snapshot throws in
      #expect(try snapshot.value(in: committer.ns, "/a") == value)
      #expect(try snapshot.leaves(in: committer.ns, under: .root, limit: 9).map(\.leaf.scalar) == [value, 1])
      #expect(try snapshot.commit(in: committer.ns, at: Revision(1))?.changes?.first?.after == value)
    }
    try expectSound(engine, "\(bytes)")
  }

  @Test("A long value goes when it is replaced, removed, or its namespace is; a rollback leaves it")
  func replaced() throws {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let committer = try Committer(engine)
    let paths = (0..<20).map { at("/a/p\($0)") }
    func nodes(_ expected: Int, _ when: String) throws {
      try committer.session.commit()
      let found = try engine.rows("SELECT count(*) FROM node WHERE typeof(value) = 'integer'")
      #expect(found == ["\(expected)"], "\(when)")
      try expectSound(engine, when)
    }
    try committer.put(Dictionary(uniqueKeysWithValues: paths.map { ($0, text(storedBytes: 20)) }))
    try nodes(0, "short")
    try committer.put(Dictionary(uniqueKeysWithValues: paths.map { ($0, text(storedBytes: 2000)) }))
    try nodes(20, "long")
    let mark = committer.session.mark()
    try committer.put([paths[0]: nil, paths[1]: 1])
    committer.session.rollback(to: mark)
    try nodes(20, "rolled back")
    try committer.put(Dictionary(uniqueKeysWithValues: paths.map { ($0, text(storedBytes: 3000, "y")) }))
    try nodes(20, "longer")
    try committer.put([paths[0]: 1, paths[1]: nil])
    try nodes(18, "one short, one gone")
    try committer.put(Dictionary(uniqueKeysWithValues: paths[2...].map { ($0, nil) }))
    try nodes(0, "the subtree gone")
    #expect(try engine.rows("SELECT count(*) FROM long_value WHERE id IN (SELECT value FROM node)") == ["0"])
    committer.session.remove(committer.ns)
    try committer.session.commit()
    #expect(try count(engine) == ["0"])
    try expectSound(engine, "the namespace gone")
  }

  @Test("Answers that are kept may be long; they expire, and are replaced", arguments: [4000, 4001, 50_000])
  func answers(bytes: Int) throws {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let committer = try Committer(engine)
    // The first byte may be any.
    for (first, kept) in [(UInt8(0), bytes > 4000 ? "1" : "0"), (0xFF, bytes > 4000 ? "1" : "0")] {
      let answer = [first] + [UInt8](repeating: 7, count: bytes - 1)
      committer.session.put(
        IdempotencyRecord(key: "k", requestDigest: [1], revision: Revision(1), answer: answer, expiresAt: 100), in: committer.ns
      )
      try committer.session.commit()
      #expect(try engine.read { try $0.idempotency(in: committer.ns, key: "k") }?.answer == answer)
      #expect(try count(engine) == [kept])
      try expectSound(engine, "kept")
    }
    committer.session.removeIdempotency(expiredAt: 100)
    try committer.session.commit()
    #expect(try count(engine) == ["0"])
    try expectSound(engine, "expired")
  }

  @Test("A backup has them; a restore to a moment before brings the long values of that moment back")
  func backup() throws {
    let engine = try SQLiteEngine(directory: folder.file("data"), options: tinyOptions)
    let committer = try Committer(engine)
    for value in 1...60 {
      try committer.put([at("/a"): text(storedBytes: 2000 + value), at("/b/\(value % 3)"): text(storedBytes: 900 + 10 * value)])
      try committer.session.commit()
    }
    try engine.compactAll()
    try engine.backup(to: folder.file("backup"))
    engine.close()
    for (moment, last) in [(nil, 60), (StoreMoment.revision(Revision(31), namespace: nil), 31)] as [(StoreMoment?, Int)] {
      try SQLiteEngine.restore(from: folder.file("backup"), to: folder.file("restored\(last)"), moment: moment)
      let restored = try SQLiteEngine(directory: folder.file("restored\(last)"), options: tinyOptions)
      try expectSound(restored, "\(last)")
      #expect(try restored.read { try $0.value(in: committer.ns, "/a") } == text(storedBytes: 2000 + last))
      let past = try restored.read { snapshot throws in
        try snapshot.leaves(in: committer.ns, under: at("/a"), asOf: Revision(20), limit: 1)
      }
      #expect(past.map(\.leaf.scalar) == [text(storedBytes: 2020)])
      restored.close()
    }
  }

  /// A store with a long value in each column that may have one.
  private func fill(_ engine: SQLiteEngine) throws -> Committer {
    let committer = try Committer(engine)
    for value in 1...40 {
      try committer.put([at("/a"): text(storedBytes: 5000 + value), at("/b"): .int(Int64(value))])
      if value == 1 { try committer.put([at("/c"): text(storedBytes: 1500), at("/d"): text(storedBytes: 1600)]) }
      try committer.session.commit()
    }
    try committer.prune(through: Revision(10), of: engine)
    committer.session.put(
      IdempotencyRecord(
        key: "k", requestDigest: [1], revision: Revision(1), answer: [UInt8](repeating: 9, count: 4500), expiresAt: 100),
      in: committer.ns)
    try committer.session.commit()
    return committer
  }

  @Test("Each long value that is damaged, missing, too many or somebody else's is seen")
  func damage() throws {
    let engine = try SQLiteEngine(directory: folder.file("data"), options: tinyOptions)
    _ = try fill(engine)
    try expectSound(engine, "as written")
    engine.close()
    let file = folder.file("data/doubloon.db")
    let whole = TemporaryFolder.bytes(of: file)
    var edits = [
      "INSERT INTO long_value (id, tag, value) VALUES (0, x'05', x'0500')",
      "INSERT INTO long_value SELECT 1000000, tag, value FROM long_value LIMIT 1",
      "UPDATE long_value SET tag = x'02' WHERE id = (SELECT max(id) FROM long_value)",
      "UPDATE node SET value = (SELECT min(value) FROM node WHERE typeof(value) = 'integer') WHERE typeof(value) = 'integer'",
    ]
    for (table, column) in LongValue.columns {
      let one = "SELECT max(\(column)) FROM \(table) WHERE typeof(\(column)) = 'integer'"
      edits += [
        "DELETE FROM long_value WHERE id = (\(one))",
        "UPDATE long_value SET value = tag || zeroblob(length(value) - 1) WHERE id = (\(one))",
        "UPDATE long_value SET value = CAST(value || x'20' AS BLOB) WHERE id = (\(one))",
        "UPDATE \(table) SET \(column) = 1000000 WHERE \(column) = (\(one))",
        "DELETE FROM \(table) WHERE \(column) = (\(one))",
      ]
    }
    for edit in edits {
      TemporaryFolder.write(whole, to: file)
      let other = try SQLiteConnection(path: file)
      try other.execute(edit)
      #expect(sqlite3_changes(other.handle) > 0, "\(edit)")
      other.close()
      let connection = try SQLiteConnection(path: file)
      var check = StoreCheck(connection: connection)
      #expect(!check.run().faults.isEmpty, "\(edit)")
      connection.close()
    }
  }

  @Test("What an erasure removes of long values is not in the file any more")
  func erased() throws {
    let engine = try SQLiteEngine(directory: folder.file("data"), options: tinyOptions)
    let committer = try Committer(engine)
    let words = String(repeating: "the secret words of a player; ", count: 300)
    try committer.put([at("/users/a/words"): .string(words), at("/users/b/words"): text(storedBytes: 5000, "others ")])
    try committer.session.commit()
    for value in 0..<60 as Range<Int64> {
      try committer.put([at("/users/b/x"): .int(value)])
      try committer.session.commit()
    }
    try committer.put([at("/users/a/words"): nil])
    try committer.maintain { $0.erasing = .rows }
    let last = try committer.session.head(of: committer.ns).revision
    for value in 0..<40 as Range<Int64> {
      try committer.put([at("/users/b/x"): .int(value)])
      try committer.session.commit()
    }
    for _ in 0..<3 { _ = try engine.compact() }
    try committer.maintain { $0.erasing = .changes(of: [Revision(1), last], below: [at("/users/a")], order: last) }
    try committer.maintain { $0.erasing = .past(below: at("/users/a"), through: last) }
    try engine.compactAll()
    try expectSound(engine, "erased")
    engine.close()
    #expect(try !DiskFiles.holds("secret words", folder.file("data/doubloon.db")))
    #expect(try DiskFiles.holds("others others", folder.file("data/doubloon.db")))
  }

  /// How many pages the writer looks at for 1,000 small writes beside a value, in batches.
  private func pages(beside value: Scalar) throws -> Int {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let committer = try Committer(engine)
    try committer.put([at("/game/m"): value])
    try committer.session.commit()
    func touched() -> Int {
      [SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS].reduce(0) { sum, what in
        var (now, most) = (Int32(0), Int32(0))
        sqlite3_db_status(engine.writer.handle, what, &now, &most, 0)
        return sum + Int(now)
      }
    }
    let before = touched()
    for batch in 0..<20 {
      for index in 0..<50 {
        let path = at("/game/\(index % 2 == 0 ? "a" : "z")\(batch)-\(index)")
        // A write asks whether its neighbour is a leaf above it.
        _ = try committer.session.lastPath(in: committer.ns, before: path)
        try committer.put([path: .int(Int64(index))])
      }
      try committer.session.commit()
    }
    return touched() - before
  }

  @Test("Small writes beside a long value look at no more pages than beside a short one")
  func work() throws {
    let short = try pages(beside: text(storedBytes: 100))
    let long = try pages(beside: .string(String(repeating: "x", count: 2 << 20)))
    #expect(short > 1000)
    #expect(long <= 2 * short, "\(long) pages, \(short) beside a short value")
  }
}
