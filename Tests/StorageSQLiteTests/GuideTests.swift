import StorageCore
import StorageSQLite
import Testing

/// The example of the documentation's first page.
struct GuideTests {
  @Test("The example of the documentation")
  func example() throws {
    let (folder, backups) = (TemporaryFolder(), TemporaryFolder())
    let engine = try SQLiteEngine(directory: folder.path)
    let session = try engine.makeWriteSession()
    _ = try session.namespace(named: "treasure-hunt", creatingAt: 1_700_000_000_000)
    try session.commit()

    let names = try engine.read { (snapshot) throws(StorageError) in try snapshot.namespaces().map(\.name) }
    try engine.backup(to: backups.file("copy.db"))
    let faults = try engine.check().faults
    engine.close()
    #expect(names == ["treasure-hunt"] && faults.isEmpty)
  }
}
