import StorageCore
import Testing

@testable import StoragePostgres

/// What is sent to PostgreSQL; whether it does what it should is shown by the stage `cluster`, with a real one.
@Suite("The statements of a cell")
struct PostgresCellTests {
  @Test("The tables that guard payments have the columns and the keys of schema.sql")
  func guards() {
    let statements = PostgresCell(url: "postgresql://h/d", schema: "s7").creation.map(\.sql)
    func table(_ name: String) -> String? { statements.first { $0.contains("CREATE TABLE IF NOT EXISTS \"s7\".\(name) (") } }
    #expect(table("execution")?.contains("PRIMARY KEY (ns, epoch, revision, path, function)") == true)
    #expect(table("ledger_entry")?.contains("previous_hash BYTEA NOT NULL") == true)
    #expect(statements.contains { $0.contains("CREATE UNIQUE INDEX IF NOT EXISTS ledger_entry_key ON \"s7\".ledger_entry") })
    #expect(
      statements.contains { $0.contains("ledger_entry_reversal ON \"s7\".ledger_entry") && $0.contains("WHERE reverses") })
    #expect(!statements.contains { $0.contains("BLOB") || $0.contains("ROWID") || $0.contains("--") })
  }

  @Test("Rows that are new go together, others alone, and none is lost")
  func rows() throws {
    let entry = JournalRow(
      table: "ledger_entry", operation: .inserted, key: [:],
      values: ["ns": .integer(1), "hash": .bytes([0, 255]), "reason": .text("a\u{0}b"), "event": .null])
    let other = JournalRow(table: "ledger_entry", operation: .inserted, key: [:], values: ["ns": .integer(2)])
    let removed = JournalRow(
      table: "execution", operation: .removed, key: ["ns": .integer(1), "path": .bytes([7])], values: [:])
    let changed = JournalRow(
      table: "ledger_entry", operation: .updated, key: ["ns": .integer(1)],
      values: ["subject": .text("gone"), "code": .text("x")])
    let statements = GuardedRows("s7").statements([entry, removed, other, changed])
    #expect(
      statements.map(\.sql) == [
        "DELETE FROM s7.execution WHERE ns = $1 AND path = $2",
        "UPDATE s7.ledger_entry SET code = $1, subject = $2 WHERE ns = $3",
        "INSERT INTO s7.ledger_entry SELECT * FROM json_populate_recordset(NULL::s7.ledger_entry, $1::text::json)",
      ])
    guard case .text(let json) = try #require(statements.last?.parameters.first) else {
      Issue.record("The rows are no text.")
      return
    }
    #expect(json.contains(#""hash":"\\x00ff""#) && json.contains(#""ns":2"#) && json.contains(#""event":null"#))
    #expect(!json.contains("u0000"))
    #expect(GuardedRows("s7").statements([]).isEmpty)
  }

  @Test("The chain covers the hash before, the position and the digest")
  func chain() {
    let (before, digest) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
    let position = JournalPosition(batch: 7, fence: 3)
    let hash = PostgresJournal.hash(after: before, position, digest: digest)
    #expect(hash.count == 32 && hash == PostgresJournal.hash(after: before, position, digest: digest))
    let others = [
      PostgresJournal.hash(after: digest, position, digest: digest),
      PostgresJournal.hash(after: before, JournalPosition(batch: 8, fence: 3), digest: digest),
      PostgresJournal.hash(after: before, JournalPosition(batch: 7, fence: 4), digest: digest),
      PostgresJournal.hash(after: before, position, digest: before),
    ]
    #expect(Set(others + [hash]).count == 5)
  }

  @Test("Bytes come back from PostgreSQL's digits, and numbers and texts as they are")
  func columns() {
    let row = PostgresLink.Row(columns: [Array("\\x00ff10aB".utf8), Array("-42".utf8), nil, Array("\\x".utf8)])
    #expect(row.bytes(0) == [0, 255, 16, 171] && row.integer(1) == -42 && row.isNull(2) && row.bytes(3).isEmpty)
    #expect(row.text(1) == "-42" && row.text(2).isEmpty)
  }

  @Test(
    "An answer that leaves open what happened is told from one that says no",
    arguments: [
      ("", true), ("08006", true), ("57P01", true), ("40001", true), ("53300", true), ("22012", false), ("23505", false),
      ("42601", false),
    ])
  func errors(state: String, isUnknown: Bool) {
    #expect(PostgresError(state: state, message: "m").isUnknown == isUnknown)
  }

  @Test(
    "A schema's name cannot hold what would be SQL",
    arguments: ["", "a b", "a\"b", "A", "ä", "a;b", "\(String(repeating: "a", count: 41))"])
  func names(name: String) {
    #expect(!PostgresCell.isName(name) && PostgresCell.isName("doubloon_7"))
  }
}
