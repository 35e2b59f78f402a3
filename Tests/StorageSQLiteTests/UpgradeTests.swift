import Glibc
import StorageCore
import Synchronization
import Testing
import TreeModel

import enum TestSupport.FileMode

@testable import StorageSQLite

/// A store that an older version wrote: announced, copied, changed and verified in one transaction, or left as it was.
@Suite("Upgrading a store")
struct UpgradeTests {
  let folder = TemporaryFolder()

  /// Two steps beyond the schema that there is: a table with rows, and a column.
  static let next = SchemaHistory(
    version: SchemaScript.version + 2,
    migrations: [
      SchemaMigration(
        from: SchemaScript.version,
        script: "CREATE TABLE song (ns BIGINT NOT NULL, id BIGINT NOT NULL PRIMARY KEY, title TEXT NOT NULL) WITHOUT ROWID; "
          + "INSERT INTO song SELECT id, id, name FROM namespace"),
      SchemaMigration(from: SchemaScript.version + 1, script: "ALTER TABLE song ADD COLUMN verses BIGINT"),
    ])

  /// The schema that there is.
  private let current = SchemaScript.version
  private var data: String { folder.file("data") }

  /// Makes a store of the schema that there is, with a few rows of each kind, and returns the canonical text of its tree.
  private func makeStore() throws {
    let engine = try SQLiteEngine(directory: data)
    let committer = try Committer(engine)
    try committer.put("/a", 1)
    try Records(ns: committer.ns).putAll(into: committer, round: 1)
    try committer.post(transfer("bob", key: "one"))
    try committer.session.commit()
    engine.close()
  }

  private func settings(
    _ schema: SchemaHistory = Self.next, mode: UpgradePolicy.Mode = .copied, said: Said = Said(),
    reached: @escaping @Sendable (StoreUpgrade.Point) -> Void = { _ in }
  ) -> StoreUpgrade.Settings {
    StoreUpgrade.Settings(
      schema: schema, policy: UpgradePolicy(mode: mode, moment: "20260102T030405Z", announce: said.hear), reached: reached)
  }

  private func open(_ settings: StoreUpgrade.Settings, at path: String? = nil) throws -> SQLiteEngine {
    try SQLiteEngine(folder: DataFolder(path ?? data), options: SQLiteOptions(), upgrade: settings)
  }

  /// What was announced.
  private final class Said: Sendable {
    private let notices = Mutex<[UpgradeNotice]>([])
    var all: [UpgradeNotice] { notices.withLock { $0 } }
    @Sendable func hear(_ notice: UpgradeNotice) { notices.withLock { $0.append(notice) } }
  }

  /// Every row of a store's tables but the schema's version and digests, and the schema itself.
  private func content(of path: String) throws -> [String] {
    let connection = try SQLiteConnection(path: path)
    defer { connection.close() }
    let tables = try connection.texts(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('meta', 'row_digest') ORDER BY name")
    var rows = try connection.texts("SELECT sql FROM sqlite_master ORDER BY name")
    for table in tables {
      let columns = try connection.texts("SELECT name FROM pragma_table_info('\(table)')")
      let row = columns.map { "quote(\($0))" }.joined(separator: " || ',' || ")
      rows += try connection.texts("SELECT '\(table): ' || \(row) FROM \(table) ORDER BY 1")
    }
    return rows
  }

  private func version(of path: String) throws -> Int64? {
    let connection = try SQLiteConnection(path: path)
    defer { connection.close() }
    return try connection.meta(.schemaVersion)
  }

  @Test("It is announced, copied, changed and verified, in this order; the copy opens, with all that was there")
  func order() throws {
    try makeStore()
    let before = try content(of: data + "/doubloon.db")
    let said = Said()
    let engine = try open(settings(said: said))
    #expect(try engine.check().faults == [])
    engine.close()

    let copy = data + "/doubloon.db.schema-\(current).20260102T030405Z.copy"
    guard said.all.count == 4, case .planned(let plan) = said.all[0], case .verified(let rows) = said.all[2] else {
      Issue.record("\(said.all)")
      return
    }
    #expect(plan.copy == copy && plan.from == current && plan.to == current + 2 && plan.fits)
    #expect(plan.neededBytes > 2 * plan.storeBytes && plan.storeBytes > 0)
    #expect(said.all[1] == .copied(to: copy, bytes: FileCalls.size(copy) ?? 0))
    #expect(rows > 10)
    #expect(said.all[3] == .migrated(from: current, to: current + 2))
    #expect(
      TemporaryFolder.names(in: data) == [
        "doubloon.db", "doubloon.db.schema-\(current).20260102T030405Z.copy", "doubloon.lock",
      ])
    #expect(FileMode.of(copy) == 0o600)

    #expect(try version(of: data + "/doubloon.db") == Int64(current + 2))
    #expect(try content(of: copy) == before)
    // The program before takes it up as it is.
    try SQLiteEngine.restore(from: copy, to: folder.file("back"))
    let back = try SQLiteEngine(directory: folder.file("back"))
    #expect(try back.check().faults == [])
    back.close()
    // And nothing is done twice.
    let again = Said()
    try open(settings(said: again)).close()
    #expect(again.all.isEmpty)
  }

  @Test("A process that dies at any moment of it leaves the old store or the new one, whole")
  func deaths() throws {
    try makeStore()
    let before = try content(of: data + "/doubloon.db")
    let points = Mutex<[StoreUpgrade.Point]>([])
    let (data, folder) = (data, folder)
    let said = Said()
    let running = settings(said: said) { point in
      // What a kill -9 leaves is what the files hold at that moment.
      let index = points.withLock { points in
        points.append(point)
        return points.count
      }
      mkdir(folder.file("death-\(index)"), 0o700)
      for name in FileCalls.names(in: data) where name != "doubloon.lock" {
        try? FileCalls.copy("\(data)/\(name)", to: "\(folder.file("death-\(index)"))/\(name)")
      }
    }
    try open(running).close()
    let all = points.withLock { $0 }
    #expect(all == [.planned, .copied, .begun, .stepped(current), .stepped(current + 1), .verified, .committed])

    for (index, point) in all.enumerated() {
      let left = folder.file("death-\(index + 1)")
      let opened = folder.file("opened-\(index + 1)")
      mkdir(opened, 0o700)
      for name in FileCalls.names(in: left) { try FileCalls.copy("\(left)/\(name)", to: "\(opened)/\(name)") }
      if point == .committed {
        let error = #expect(throws: StorageError.self) { try SQLiteEngine(directory: opened) }
        #expect(error?.code == .newerSchema)
      } else {
        // The program before goes on with it.
        let engine = try SQLiteEngine(directory: opened)
        #expect(try engine.check().faults == [], "\(point)")
        engine.close()
        #expect(try content(of: opened + "/doubloon.db") == before, "\(point)")
      }
      // And the new one completes it.
      let engine = try open(settings(), at: left)
      #expect(try engine.check().faults == [], "\(point)")
      engine.close()
      #expect(try version(of: left + "/doubloon.db") == Int64(current + 2))
    }
  }

  @Test("A step that fails, and one after which the store is not sound, leave it as it was, without a copy")
  func failures() throws {
    try makeStore()
    let before = try content(of: data + "/doubloon.db")
    let scripts = [
      "CREATE TABLE song (id BIGINT); SELECT nothing FROM nowhere": StorageError.Code.failed,
      "UPDATE node SET value = x'0102' WHERE rowid_of_nothing = 1": .failed,
      "DELETE FROM ledger_posting": .damaged, "INSERT INTO node SELECT ns, x'00' || path, revision, value FROM node": .damaged,
    ]
    for (script, code) in scripts {
      let schema = SchemaHistory(version: current + 1, migrations: [SchemaMigration(from: current, script: script)])
      let error = #expect(throws: StorageError.self) { try open(settings(schema)) }
      #expect(error?.code == code, "\(script): \(error?.message ?? "")")
      #expect(TemporaryFolder.names(in: data) == ["doubloon.db", "doubloon.lock"])
      #expect(try version(of: data + "/doubloon.db") == Int64(current))
      #expect(try content(of: data + "/doubloon.db") == before)
    }
    let unknown = SchemaHistory(version: current + 2, migrations: [Self.next.migrations[1]])
    #expect(throws: StorageError.self) { try open(settings(unknown)) }
    #expect(try version(of: data + "/doubloon.db") == Int64(current))
  }

  @Test("A disk without room is said before anything is done; without the copy half of it is enough")
  func room() throws {
    try makeStore()
    let before = TemporaryFolder.bytes(of: data + "/doubloon.db")
    let said = Said()
    var scarce = settings(said: said)
    let enough = Int64(before.count) + (16 << 20)
    scarce.freeBytes = { _ in enough }
    let error = #expect(throws: StorageError.self) { try open(scarce) }
    #expect(error?.code == .full)
    #expect(error?.message.contains("17 MB are free") == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("doubloon upgrade --no-copy --data \(data)") == true)
    #expect(said.all.count == 1)
    #expect(TemporaryFolder.names(in: data) == ["doubloon.db", "doubloon.lock"])
    #expect(TemporaryFolder.bytes(of: data + "/doubloon.db") == before)

    scarce.policy.mode = .uncopied
    try open(scarce).close()
    #expect(TemporaryFolder.names(in: data) == ["doubloon.db", "doubloon.lock"])
    #expect(try version(of: data + "/doubloon.db") == Int64(current + 2))
  }

  @Test("Who only looks changes nothing, and is told what would be done")
  func looking() throws {
    try makeStore()
    let plan = try SQLiteEngine.upgradePlan(directory: data, schema: Self.next)
    #expect(plan?.from == current && plan?.to == current + 2 && plan?.copy == data + "/doubloon.db.schema-\(current).copy")
    #expect(try SQLiteEngine.upgradePlan(directory: data) == nil)
    let before = TemporaryFolder.bytes(of: data + "/doubloon.db")
    let error = #expect(throws: StorageError.self) { try open(settings(mode: .refused)) }
    #expect(error?.code == .olderSchema)
    #expect(error?.message.contains("doubloon upgrade --data \(data)") == true)
    #expect(TemporaryFolder.bytes(of: data + "/doubloon.db") == before)
    #expect(throws: StorageError.self) { try SQLiteEngine.upgradePlan(directory: folder.file("none")) }
  }

  @Test("A damaged store is not brought up to date, for its new digests would vouch for the damage")
  func damaged() throws {
    try makeStore()
    let other = try SQLiteConnection(path: data + "/doubloon.db")
    try other.execute("UPDATE audit SET result = 'refused'")
    other.close()
    for mode in [UpgradePolicy.Mode.copied, .uncopied] {
      let error = #expect(throws: StorageError.self) { try open(settings(mode: mode)) }
      #expect(error?.code == .damaged)
      #expect(error?.message.contains("A row of the table audit is not what was written") == true, "\(error?.message ?? "")")
      #expect(try version(of: data + "/doubloon.db") == Int64(current))
      #expect(TemporaryFolder.names(in: data) == ["doubloon.db", "doubloon.lock"])
    }
  }

  @Test("A newer store is refused with the ways there are, among them the copy that was made")
  func newer() throws {
    try makeStore()
    try open(settings()).close()
    let error = #expect(throws: StorageError.self) { try SQLiteEngine(directory: data) }
    #expect(error?.code == .newerSchema)
    for words in [
      "has schema \(current + 2), this program knows up to \(current)", "doubloon data export",
      "doubloon.db.schema-\(current).20260102T030405Z.copy",
    ] {
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
    #expect(throws: StorageError.self) { try SQLiteEngine.upgradePlan(directory: data) }
  }
}
