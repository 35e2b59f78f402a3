import RewardModel
import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

/// A store that nobody has touched is sound, whatever its writer did.
@Suite("Checking a store")
struct StoreCheckTests {
  let folder = TemporaryFolder()

  private func expectSound(_ engine: SQLiteEngine, _ when: String) throws {
    let report = try engine.check()
    #expect(report.isSound, "\(when): \(report.faults)")
  }

  @Test("It is sound through generations, merges, rollbacks, expiry, replaced and forgotten rows, and after each start")
  func sound() throws {
    var head: Int64 = 0
    for start in 0..<3 {
      let engine = try SQLiteEngine(directory: folder.file("data"), options: tinyOptions)
      try expectSound(engine, "start \(start)")
      let committer = try Committer(engine)
      let records = Records(ns: committer.ns)
      for value in 1...60 as ClosedRange<Int64> {
        head += 1
        try committer.put([PathBytes("/a"): .int(head), at("/b/\(head % 17)"): head % 3 == 0 ? nil : .int(value)])
        if start == 0, value <= 2 { try records.putAll(into: committer, round: Int(value)) }
        if value % 10 == 0 { committer.session.removeIdempotency(expiredAt: 200) }
        if value % 7 == 0 {
          let mark = committer.session.mark()
          try committer.put("/c", .int(value))
          committer.session.put(records.delivery(9, "never"), in: committer.ns)
          committer.session.rollback(to: mark)
        }
        try committer.session.commit()
        while value % 20 == 0, try engine.compact() { try expectSound(engine, "merging at \(head)") }
        if value % 25 == 0 { try engine.checkpoint() }
      }
      let other = try #require(try committer.session.namespace(named: "other\(start)", creatingAt: 5))
      committer.session.put(records.outbox(1), in: other)
      try committer.session.commit()
      try expectSound(engine, "two namespaces")
      committer.session.remove(other)
      try committer.session.commit()
      try expectSound(engine, "one namespace")
      try engine.backup(to: folder.file("backup\(start)"))
      engine.close()
      let restored = folder.file("restored\(start)")
      try SQLiteEngine.restore(from: folder.file("backup\(start)"), to: restored)
      let copy = try SQLiteEngine(directory: restored)
      try expectSound(copy, "restored")
      copy.close()
    }
  }

  @Test("A row that was changed behind the writer's back is still told of when it, and all others of its table, are gone")
  func emptied() throws {
    let engine = try SQLiteEngine(directory: folder.path)
    let committer = try Committer(engine)
    for key in ["a", "b"] { committer.session.put(KeyedRecordChange(kind: "note", key: key, value: "x"), in: committer.ns) }
    try committer.session.commit()
    engine.close()
    let shell = try SQLiteConnection(path: folder.file("doubloon.db"))
    try shell.execute("UPDATE room_record SET value = 'y' WHERE key = 'b'")
    shell.close()
    let opened = try SQLiteEngine(directory: folder.path)
    defer { opened.close() }
    #expect(!(try opened.check().isSound))
    let other = try Committer(opened)
    for key in ["a", "b"] { other.session.put(KeyedRecordChange(kind: "note", key: key, value: nil), in: other.ns) }
    try other.session.commit()
    let report = try opened.check()
    #expect(report.faults.contains { $0.contains("room_record") }, "\(report.faults)")
  }

  @Test("Statistics and tables that somebody made with another program do not keep a store from opening, and are seen")
  func foreignTables() throws {
    let engine = try SQLiteEngine(directory: folder.path)
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.session.commit()
    engine.close()
    let shell = try SQLiteConnection(path: folder.file("doubloon.db"))
    try shell.execute("ANALYZE")
    try shell.execute("CREATE TABLE \"my 'own' \"\"notes\"\"\" (\"a text\" TEXT)")
    shell.close()
    let opened = try SQLiteEngine(directory: folder.path)
    defer { opened.close() }
    let again = try Committer(opened)
    try again.put("/a", 2)
    try again.session.commit()
    let faults = try opened.check().faults
    #expect(faults.count == 1 && faults[0].hasPrefix("The table sqlite_schema has "), "\(faults)")
  }

  @Test("A store of an older version is witnessed from its migration on")
  func migrated() throws {
    let engine = try SQLiteEngine(directory: folder.path)
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try Records(ns: committer.ns).putAll(into: committer, round: 1)
    try committer.session.commit()
    engine.close()
    let old = try SQLiteConnection(path: folder.file("doubloon.db"))
    try old.execute(SchemaMigration.undoing)
    old.close()
    let opened = try SQLiteEngine(folder: DataFolder(folder.path), options: SQLiteOptions(), upgrade: .by([.invented]))
    try expectSound(opened, "migrated")
    opened.close()
    let edited = try SQLiteConnection(path: folder.file("doubloon.db"))
    try edited.execute("UPDATE audit SET result = 'refused'")
    edited.close()
    let again = try SQLiteEngine(directory: folder.path)
    #expect(try again.check().faults == ["A row of the table audit is not what was written: their digest differs."])
    again.close()
  }
}
