import Glibc
import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

@Suite("Opening a store")
struct OpeningTests {
  let folder = TemporaryFolder()

  @Test("A second opening is refused and names the process")
  func locked() throws {
    let engine = try SQLiteEngine(directory: folder.path)
    let error = #expect(throws: StorageError.self) { try SQLiteEngine(directory: folder.path) }
    #expect(error?.code == .locked)
    #expect(error?.message.contains("process \(getpid())") == true)
    engine.close()
    try SQLiteEngine(directory: folder.path).close()
  }

  @Test("What was committed is there after closing, and nothing else stays in the folder")
  func reopening() throws {
    var engine = try SQLiteEngine(directory: folder.file("deep/er"))
    var committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.post(transfer("bob", key: "one"))
    try committer.session.commit()
    try committer.put("/b", 1)
    let head = NamespaceHead(
      revision: Revision(1), time: 1001, commitHash: try engine.read { try $0.head(of: committer.ns) }.commitHash,
      entrySequence: 1, entryHash: try committer.session.head(of: committer.ns).entryHash)
    engine.close()
    #expect(TemporaryFolder.names(in: folder.file("deep/er")) == ["doubloon.db", "doubloon.lock"])

    engine = try SQLiteEngine(directory: folder.file("deep/er"))
    committer = try Committer(engine)
    #expect(try committer.session.head(of: committer.ns) == head)
    #expect(try committer.session.value(in: committer.ns, "/a") == 1)
    #expect(try committer.session.value(in: committer.ns, "/b") == nil)
    #expect(try engine.read { try $0.namespaces() }.count == 1)
    engine.close()
    #expect { try engine.read { try $0.namespaces() } } throws: { ($0 as? StorageError)?.code == .stopped }
    #expect { try committer.session.value(in: committer.ns, "/a") } throws: { ($0 as? StorageError)?.code == .stopped }
  }

  @Test("A store in memory leaves nothing behind")
  func inMemory() throws {
    let engine = try SQLiteEngine.inMemory()
    let path = engine.path
    #expect(FileCalls.exists(path))
    engine.close()
    #expect(!FileCalls.exists(path) && !FileCalls.exists(FileCalls.folder(of: path)))
  }

  @Test("A newer schema is refused and left as it is")
  func newer() throws {
    try SQLiteEngine(directory: folder.path).close()
    try edit("UPDATE meta SET value = '\(SchemaScript.version + 1)' WHERE name = 'schema'")
    let error = #expect(throws: StorageError.self) { try SQLiteEngine(directory: folder.path) }
    #expect(error?.code == .newerSchema)
    #expect(TemporaryFolder.names(in: folder.path) == ["doubloon.db", "doubloon.lock"])
  }

  @Test("An older schema is brought up to date, with a copy of it beside, and ends as a new one begins")
  func migration() throws {
    try SQLiteEngine(directory: folder.path).close()
    let fresh = try schema()
    let before = SchemaScript.version - 1
    let added = SchemaMigration.inventedTables[0]
    try edit(SchemaMigration.undoing)

    let broken = SchemaMigration(from: before, script: "CREATE TABLE \(added) (id BIGINT); SELECT nothing FROM nowhere")
    #expect(throws: StorageError.self) { try open([broken]) }
    #expect(try open([]).code == .failed)

    try SQLiteEngine(folder: DataFolder(folder.path), options: SQLiteOptions(), upgrade: .by([.invented])).close()
    #expect(try schema() == fresh)
    let copy = try SQLiteConnection(path: folder.file("doubloon.db.schema-\(before).copy"))
    #expect(try copy.meta(.schemaVersion) == Int64(before))
    #expect(try copy.texts("SELECT name FROM sqlite_master WHERE name = '\(added)'").isEmpty)
  }

  @Test("A store that was written before version 0.1 is refused with what to do, and left as it is")
  func unreleased() throws {
    try SQLiteEngine(directory: folder.path).close()
    try edit("UPDATE meta SET name = 'schema_version', value = '5' WHERE name = 'schema'")
    let error = #expect(throws: StorageError.self) { try SQLiteEngine(directory: folder.path) }
    #expect(error?.code == .newerSchema)
    #expect(error?.message.contains("Export it with the program that wrote it") == true)
    #expect(TemporaryFolder.names(in: folder.path) == ["doubloon.db", "doubloon.lock"])
  }

  private func open(_ migrations: [SchemaMigration]) throws -> StorageError {
    do {
      let engine = try SQLiteEngine(folder: DataFolder(folder.path), options: SQLiteOptions(), upgrade: .by(migrations))
      engine.close()
      return StorageError(.stopped, "it opened")
    } catch {
      // Nothing was changed.
      #expect(try SQLiteConnection(path: folder.file("doubloon.db")).meta(.schemaVersion) == Int64(SchemaScript.version - 1))
      if migrations.isEmpty { return error }
      throw error
    }
  }

  private func edit(_ script: String) throws {
    let connection = try SQLiteConnection(path: folder.file("doubloon.db"))
    try connection.execute(script)
    connection.close()
  }

  private func schema() throws -> [String] {
    let connection = try SQLiteConnection(path: folder.file("doubloon.db"))
    defer { connection.close() }
    return try connection.texts("SELECT name || coalesce(sql, '') FROM sqlite_master ORDER BY name")
  }

  @Test("What is no store is refused", arguments: ["garbage", "other", "torn"])
  func damaged(kind: String) throws {
    switch kind {
    case "garbage": TemporaryFolder.write([UInt8](repeating: 7, count: 5000), to: folder.file("doubloon.db"))
    case "other":
      let connection = try SQLiteConnection(path: folder.file("doubloon.db"), creates: true)
      try connection.execute("CREATE TABLE song (title TEXT)")
      connection.close()
    default:
      let engine = try SQLiteEngine(directory: folder.path)
      engine.close()
      var bytes = TemporaryFolder.bytes(of: folder.file("doubloon.db"))
      for i in bytes.indices.dropFirst(100) { bytes[i] = 0xA5 }
      TemporaryFolder.write(bytes, to: folder.file("doubloon.db"))
    }
    #expect(throws: StorageError.self) { try SQLiteEngine(directory: folder.path) }
    // The lock was given back.
    #expect { try SQLiteEngine(directory: folder.path) } throws: { ($0 as? StorageError)?.code == .damaged }
  }

  @Test("A payload that cannot be read is reported as damage, by the snapshot and by the writer")
  func damagedPayload() throws {
    let engine = try SQLiteEngine(directory: folder.path)
    defer { engine.close() }
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.session.commit()
    try edit("UPDATE node SET value = x'63'; UPDATE commit_log SET changes = x'01FF'")
    func isDamaged(_ body: () throws -> Void) -> Bool {
      do {
        try body()
        return false
      } catch {
        return (error as? StorageError)?.code == .damaged
      }
    }
    #expect(isDamaged { _ = try engine.read { try $0.leaves(in: committer.ns, under: .root, limit: 1) } })
    #expect(isDamaged { _ = try engine.read { try $0.commit(in: committer.ns, at: Revision(1)) } })
    #expect(isDamaged { _ = try committer.session.leaf(in: committer.ns, at: PathBytes("/a")) })
    #expect(try engine.read { try $0.namespaces() }.count == 1)
  }
}

extension StringProtocol {
  /// The first place of a text; the standard library has none without Foundation.
  fileprivate func range(of text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      formIndex(after: &start)
    }
    return nil
  }
}
