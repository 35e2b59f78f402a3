import Glibc
import StorageCore
import Testing
import TreeModel

@testable import StorageSQLite

@Suite("Backup and restore")
struct BackupTests {
  let folder = TemporaryFolder()

  /// A backup of a store with one commit.
  private func backup(of value: Int64, named name: String = "backup") throws -> String {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let committer = try Committer(engine)
    try committer.put("/a", .int(value))
    try committer.session.commit()
    try engine.backup(to: folder.file(name))
    return folder.file(name)
  }

  @Test("A backup made while the writer writes is a moment of the store, and restores into a new epoch")
  func whileWriting() async throws {
    let engine = try SQLiteEngine(directory: folder.file("data"), options: tinyOptions)
    let file = folder.file("backup")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let committer = try Committer(engine)
        for value in 1...1200 as ClosedRange<Int64> {
          try committer.put([PathBytes("/a"): .int(value), at("/b/\(value % 97)"): .int(value)])
          if value % 4 == 0 { try committer.session.commit() }
          if value % 200 == 0 { try engine.checkpoint() }
        }
        try committer.session.commit()
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
    let committer = try Committer(restored)
    try committer.put("/a", 0)
    try committer.session.commit()
    #expect(try restored.read { try $0.commit(in: ns, at: $0.head(of: ns).revision) }?.epoch == 2)
  }

  @Test(
    "A backup into which somebody has put a view or a trigger is refused before it runs",
    arguments: [
      "DROP TABLE meta; CREATE VIEW meta AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r",
      "CREATE TRIGGER t AFTER UPDATE ON meta BEGIN DELETE FROM node; END",
    ])
  func programs(script: String) throws {
    let file = try backup(of: 1)
    let connection = try SQLiteConnection(path: file)
    try connection.execute(script)
    connection.close()
    let error = #expect(throws: StorageError.self) { try SQLiteEngine.restore(from: file, to: folder.file("new")) }
    #expect(error?.code == .damaged && error?.message.contains("triggers or views") == true)
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

  @Test("A folder that holds the log of another store is not restored into", arguments: ["-wal", "-shm", "-journal"])
  func strayLog(ending: String) throws {
    let file = try backup(of: 1)
    mkdir(folder.file("data"), 0o700)
    TemporaryFolder.write([1, 2, 3], to: folder.file("data/doubloon.db\(ending)"))
    let error = #expect(throws: StorageError.self) { try SQLiteEngine.restore(from: file, to: folder.file("data")) }
    #expect(error?.message.contains("doubloon.db\(ending) is there") == true)
    #expect(TemporaryFolder.names(in: folder.file("data")) == ["doubloon.db\(ending)", "doubloon.lock"])
  }

  @Test("What a restore left that was killed is no part of the next one")
  func killedRestore() throws {
    let file = try backup(of: 1)
    mkdir(folder.file("data"), 0o700)
    for ending in ["", "-wal", "-shm", "-journal"] {
      TemporaryFolder.write([1, 2, 3], to: folder.file("data/doubloon.db.restoring\(ending)"))
    }
    #expect(try SQLiteEngine.restore(from: file, to: folder.file("data")) == 2)
    #expect(TemporaryFolder.names(in: folder.file("data")) == ["doubloon.db", "doubloon.lock"])
  }

  @Test("A backup onto the live store, or beside it, is refused, however its folder is called")
  func ontoStore() throws {
    let engine = try SQLiteEngine(directory: folder.file("data"))
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.session.commit()
    #expect(symlink("data", folder.file("link")) == 0)
    #expect(symlink("data/doubloon.db", folder.file("file")) == 0)
    for name in ["data/doubloon.db", "data/doubloon.db-wal", "data/new", "link/new", "data/../data/new", "file"] {
      let error = #expect(throws: StorageError.self) { try engine.backup(to: folder.file(name)) }
      #expect(error?.code == .unsuitable, "\(name)")
    }
    engine.close()
    let again = try SQLiteEngine(directory: folder.file("data"))
    defer { again.close() }
    #expect(try again.read { try $0.value(in: committer.ns, "/a") } == .int(1))
  }

  @Test("A backup takes the place of an earlier one, and of no other file")
  func place() throws {
    let engine = try SQLiteEngine.inMemory()
    defer { engine.close() }
    let text = Array("root:x:0:0:root:/root:/bin/bash\n".utf8)
    TemporaryFolder.write(text, to: folder.file("passwd"))
    let error = #expect(throws: StorageError.self) { try engine.backup(to: folder.file("passwd")) }
    #expect(error?.code == .unsuitable && error?.message.contains("replaces only an earlier one") == true)
    #expect(TemporaryFolder.bytes(of: folder.file("passwd")) == text)
    // Of another server's store only the folder tells.
    let other = try SQLiteEngine(directory: folder.file("other"))
    defer { other.close() }
    #expect(throws: StorageError.self) { try engine.backup(to: folder.file("other/doubloon.db")) }
    for beginning in ["", "DoubloonBackup1\n…", "SQLite format 3\u{0}x"] {
      TemporaryFolder.write(Array(beginning.utf8), to: folder.file("earlier"))
      try engine.backup(to: folder.file("earlier"))
    }
  }

  @Test("A backup replaces what a link leads to, and nothing but a file")
  func linksAndFolders() throws {
    TemporaryFolder.write(Array("SQLite format 3\0, and an earlier store".utf8), to: folder.file("old"))
    #expect(symlink("old", folder.file("link")) == 0)
    _ = try backup(of: 1, named: "link")
    #expect(TemporaryFolder.names(in: folder.path) == ["link", "old"])
    var status = stat()
    #expect(lstat(folder.file("link"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(try SQLiteEngine.restore(from: folder.file("old"), to: folder.file("data")) == 2)
    for path in ["/dev/null", folder.file("data")] {
      let engine = try SQLiteEngine.inMemory()
      defer { engine.close() }
      let error = #expect(throws: StorageError.self) { try engine.backup(to: path) }
      #expect(error?.code == .unsuitable)
    }
  }

  @Test("Backups to one name at one time do not mix, and are for their owner's eyes alone")
  func together() async throws {
    let engine = try SQLiteEngine.inMemory()
    let file = folder.file("backup")
    // What one left that was killed.
    for ending in ["", "-journal"] {
      let left = open(folder.file("backup.partial\(ending)"), O_CREAT | O_WRONLY, 0o644)
      #expect(write(left, "left", 4) == 4 && close(left) == 0)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<6 {
        group.addTask {
          do throws(StorageError) {
            try engine.backup(to: file)
          } catch {
            // Two at a time are refused.
            guard error.code == .unsuitable else { throw error }
          }
        }
      }
      try await group.waitForAll()
    }
    engine.close()
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(TemporaryFolder.names(in: folder.path) == ["backup"])
    #expect(try SQLiteEngine.restore(from: file, to: folder.file("data")) == 2)
  }

  @Test("A copy that fails is tried again; the server need not be started again for it", arguments: [10, 13] as [Int32])
  func advice(code: Int32) {
    func message(isCopy: Bool) -> String {
      StorageError(sqlite: code, message: "m", path: "/backup", during: "copying the store", isCopy: isCopy).message
    }
    #expect(message(isCopy: true).hasSuffix(", then try again."))
    #expect(message(isCopy: false).hasSuffix(", then start the server again."))
  }

  @Test(
    "A backup whose last record was changed is refused and leaves nothing",
    arguments: ["UPDATE commit_log SET actor = 'user:eve' WHERE revision = 2", "UPDATE ledger_entry SET amount = 51"])
  func tampered(edit: String) throws {
    let engine = try SQLiteEngine.inMemory()
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.put("/a", 2)
    try committer.post(transfer("bob", key: "one"))
    try committer.session.commit()
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
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try committer.session.commit()
  }
}
