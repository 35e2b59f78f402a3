import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

@Suite("Backup and restore")
struct BackupTests {
  let folder = TemporaryFolder()

  @Test("A backup made while the writer writes is a moment of the store, and restores into a new epoch")
  func whileWriting() async throws {
    let engine = try SQLiteEngine(directory: folder.file("data"), options: tinyOptions)
    let file = folder.file("backup")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let scribe = try Scribe(engine)
        for value in 1...1200 as ClosedRange<Int64> {
          try scribe.put([PathBytes("/a"): .int(value), at("/b/\(value % 97)"): .int(value)])
          if value % 4 == 0 { try scribe.session.commit() }
          if value % 200 == 0 { try engine.checkpoint() }
        }
        try scribe.session.commit()
      }
      group.addTask { for _ in 0..<8 { try engine.backup(to: file) } }
      try await group.waitForAll()
    }
    engine.close()
    #expect(TemporaryFolder.names(in: folder.path) == ["backup", "data"])

    #expect(try SQLiteEngine.restore(from: file, to: folder.file("restored")) == 2)
    let restored = try SQLiteEngine(directory: folder.file("restored"), options: tinyOptions)
    defer { restored.close() }
    #expect(restored.epoch == 2)
    let ns = NamespaceID(rawValue: 1)
    try restored.read { snapshot throws in
      let head = try snapshot.head(of: ns).revision.rawValue
      guard head > 0 else { return }
      #expect(try snapshot.value(in: ns, "/a") == .int(head))
      let past = try snapshot.leaves(in: ns, under: PathBytes("/a"), asOf: Revision(head / 2), limit: 1)
      #expect(past.first?.leaf.scalar == (head == 1 ? nil : .int(head / 2)))
    }
    let scribe = try Scribe(restored)
    try scribe.put("/a", 0)
    try scribe.session.commit()
    #expect(try restored.read { try $0.commit(in: ns, at: $0.head(of: ns).revision) }?.epoch == 2)
  }

  @Test("A folder that holds a store is not restored into")
  func occupied() throws {
    try SQLiteEngine(directory: folder.file("data")).close()
    let engine = try SQLiteEngine.inMemory()
    try engine.backup(to: folder.file("backup"))
    engine.close()
    #expect(throws: StorageError.self) { try SQLiteEngine.restore(from: folder.file("backup"), to: folder.file("data")) }
    #expect(throws: StorageError.self) { try SQLiteEngine.restore(from: folder.file("none"), to: folder.file("new")) }
  }

  @Test(
    "A backup whose last record was changed is refused and leaves nothing",
    arguments: ["UPDATE commit_log SET actor = 'user:eve' WHERE revision = 2", "UPDATE ledger_entry SET amount = 51"])
  func tampered(edit: String) throws {
    let engine = try SQLiteEngine.inMemory()
    let scribe = try Scribe(engine)
    try scribe.put("/a", 1)
    try scribe.put("/a", 2)
    try scribe.post(transfer("bob", key: "one"))
    try scribe.session.commit()
    let file = folder.file("backup")
    try engine.backup(to: file)
    engine.close()
    try SQLiteEngine.restore(from: file, to: folder.file("good"))
    let connection = try SQLiteConnection(path: file)
    try connection.execute(edit)
    connection.close()
    let error = #expect(throws: StorageError.self) { try SQLiteEngine.restore(from: file, to: folder.file("bad")) }
    #expect(error?.code == .damaged)
    #expect(TemporaryFolder.names(in: folder.file("bad")) == ["doubloon.lock"])
  }

  @Test("A full target disk fails the backup and nothing else")
  func unwritableTarget() throws {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    #expect(throws: StorageError.self) { try engine.backup(to: "/nowhere/backup") }
    let scribe = try Scribe(engine)
    try scribe.put("/a", 1)
    try scribe.session.commit()
  }
}
