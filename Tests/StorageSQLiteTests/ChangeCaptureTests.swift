import CSQLite
import StorageCore
import TestSupport
import Testing

@testable import StorageSQLite

/// What is written down of each row is what SQLite's own reader of patchsets makes the same rows of.
@Suite("Following what a transaction changes")
struct ChangeCaptureTests {
  private static let schema = [
    "CREATE TABLE plain (id INTEGER PRIMARY KEY, a, b REAL, c TEXT NOT NULL DEFAULT 'x')",
    "CREATE TABLE pair (a TEXT, b BLOB, c INTEGER, d, PRIMARY KEY (c, a)) WITHOUT ROWID",
    "CREATE TABLE \"odd 'name'\" (\"k'1\" INTEGER PRIMARY KEY, v UNIQUE)",
    "CREATE TABLE keys (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID",
    "CREATE TABLE tally (name TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID",
    """
    CREATE TRIGGER counted AFTER INSERT ON plain BEGIN
      INSERT INTO tally VALUES ('plain', 1) ON CONFLICT (name) DO UPDATE SET count = count + 1;
    END
    """,
  ]

  private func connection() throws -> SQLiteConnection {
    let connection = try SQLiteConnection(path: ":memory:")
    for statement in Self.schema { try connection.execute(statement) }
    return connection
  }

  private func contents(_ connection: SQLiteConnection) throws -> [String] {
    try [
      "SELECT 'plain ' || id || quote(a) || quote(b) || quote(c) FROM plain ORDER BY 1",
      "SELECT 'pair ' || quote(a) || quote(b) || quote(c) || quote(d) FROM pair ORDER BY 1",
      "SELECT 'odd ' || quote(\"k'1\") || quote(v) FROM \"odd 'name'\" ORDER BY 1",
      "SELECT 'keys ' || a || b FROM keys ORDER BY 1", "SELECT name || count FROM tally ORDER BY 1",
    ].flatMap { try connection.texts($0) }
  }

  private func apply(_ changes: [UInt8], to connection: SQLiteConnection) throws {
    var changes = changes
    let code = changes.withUnsafeMutableBytes {
      sqlite3changeset_apply(
        connection.handle, Int32($0.count), $0.baseAddress, nil, { _, _, _ in SQLITE_CHANGESET_ABORT }, nil)
    }
    #expect(code == SQLITE_OK)
  }

  /// One statement: rows that are put, put again, moved to another key, replaced, removed, or left as they are.
  private func statement(_ random: inout SplitMix64) -> String {
    func draw(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    func value() -> String {
      switch draw(0..<7) {
      case 0: "NULL"
      case 1: "\(draw(-3..<3))"
      case 2: "\(Int64.min + Int64(draw(0..<2)))"
      case 3: "\(draw(0..<9)).25"
      case 4: "'\(String(repeating: "ü", count: draw(0..<200)))'"
      case 5: "zeroblob(\(draw(0..<20_000)))"
      default: "x'\(draw(10..<99))'"
      }
    }
    let (id, other, key) = (draw(0..<9), draw(0..<9), "'k\(draw(0..<4))'")
    switch draw(0..<13) {
    case 0: return "INSERT OR REPLACE INTO plain (id, a, b) VALUES (\(id), \(value()), \(draw(0..<5)))"
    case 1: return "UPDATE plain SET a = \(value()), b = b WHERE id = \(id)"
    case 2: return "UPDATE OR REPLACE plain SET id = \(other) WHERE id = \(id)"
    case 3: return "DELETE FROM plain WHERE id = \(id)"
    case 4: return "INSERT OR IGNORE INTO pair VALUES (\(key), \(value()), \(id), \(value()))"
    case 5: return "UPDATE OR REPLACE pair SET a = \(key), d = \(value()) WHERE c = \(id)"
    case 6: return "DELETE FROM pair WHERE c > \(id)"
    case 7: return "INSERT OR REPLACE INTO \"odd 'name'\" VALUES (\(id), \(other))"
    case 8: return "UPDATE pair SET d = d"
    case 9: return "DELETE FROM \"odd 'name'\""
    case 10: return "INSERT OR IGNORE INTO keys VALUES (\(id), \(other))"
    case 11: return "DELETE FROM keys WHERE a = \(id) OR b = \(other)"
    default: return "UPDATE tally SET count = count + \(draw(0..<2))"
    }
  }

  @Test("Rows that were changed in any way are the same where the patchset is taken in", arguments: 1...20)
  func equal(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let (first, second) = (try connection(), try connection())
    // Where it is taken in, the trigger's rows come with it.
    try second.execute("DROP TRIGGER counted")
    let capture = try ChangeCapture(first)
    defer { capture.end() }
    for round in 0..<40 {
      try first.execute("BEGIN")
      for _ in 0...Int.random(in: 0..<12, using: &random) { try first.execute(statement(&random)) }
      if Int.random(in: 0..<5, using: &random) == 0 {
        try first.execute("ROLLBACK")
        capture.forget()
        #expect(capture.isEmpty)
        continue
      }
      let changes = try capture.take().changes
      try first.execute("COMMIT")
      try apply(changes, to: second)
      let (found, expected) = (try contents(second), try contents(first))
      #expect(found == expected, "round \(round)")
    }
  }

  @Test("A transaction that changed nothing, and one that changes what is temporary, have nothing to tell")
  func nothing() throws {
    let store = try connection()
    try store.execute("INSERT INTO plain (id, a) VALUES (1, 'a')")
    try store.execute("CREATE TEMP TABLE aside (id INTEGER PRIMARY KEY)")
    let capture = try ChangeCapture(store)
    defer { capture.end() }
    try store.execute("UPDATE plain SET a = 'a', c = c")
    try store.execute("INSERT INTO aside VALUES (1)")
    try store.execute("DELETE FROM plain WHERE id = 7")
    #expect(capture.isEmpty)
    #expect(try capture.take().changes.isEmpty)
  }

  @Test("A store with a table that has no primary key is refused: nobody could say which of its rows was changed")
  func keyless() throws {
    let store = try connection()
    try store.execute("CREATE TABLE keyless (a)")
    #expect(throws: StorageError.self) { try ChangeCapture(store) }
  }

  @Test("A row that the disk does not give ends the batch, and not the process")
  func unreadable() throws {
    let folder = TemporaryFolder()
    let path = folder.file("store.db")
    let maker = try SQLiteConnection(path: path, creates: true)
    for statement in Self.schema { try maker.execute(statement) }
    try maker.execute("INSERT INTO plain (id, a) VALUES (1, zeroblob(200000))")
    maker.close()
    let connection = try SQLiteConnection(path: path, vfs: FaultyDisk.shared.name)
    defer { connection.close() }
    let capture = try ChangeCapture(connection)
    defer { capture.end() }
    try connection.execute("BEGIN")
    _ = try connection.texts("SELECT id FROM plain WHERE id = 1")
    FaultyDisk.shared.failRead(of: path)
    // It needs nothing of what was there; who follows it does.
    try connection.execute("UPDATE plain SET a = 1, b = 2, c = 'z' WHERE id = 1")
    #expect(!capture.isEmpty)
    let error = #expect(throws: StorageError.self) { try capture.take() }
    #expect(error?.code == .failed && error?.message.contains("following what a batch changes") == true)
    try connection.execute("ROLLBACK")
    try connection.execute("BEGIN")
    try connection.execute("UPDATE plain SET a = 1, b = 2, c = 'z' WHERE id = 1")
    #expect(try !capture.take().changes.isEmpty)
    try connection.execute("COMMIT")
  }
}
