import CSQLite
import Ledger
import RewardModel
import StorageCore
import StorageSQLite
import StorageTestSupport
import TestSupport
import Testing
import TreeModel

@Suite("The audit finds what somebody did to the file")
struct AuditTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let what: String
    let sql: String
    /// The faults, and the entry at which the first shows.
    let kinds: Set<LedgerReport.Finding.Kind>
    let entry: Int64?

    var testDescription: String { what }
  }

  static let rows: [Row] = [
    Row(what: "an amount", sql: "UPDATE ledger_entry SET amount = 51 WHERE sequence = 3", kinds: [.chain, .balance], entry: 3),
    Row(what: "a reason", sql: "UPDATE ledger_entry SET reason = 'x' WHERE sequence = 4", kinds: [.chain], entry: 4),
    Row(
      what: "a receiver", sql: "UPDATE ledger_entry SET credit = 'user:mallory' WHERE sequence = 3",
      kinds: [.chain, .balance, .sum, .tree], entry: 3),
    Row(what: "a hash", sql: "UPDATE ledger_entry SET hash = zeroblob(32) WHERE sequence = 2", kinds: [.chain], entry: 2),
    Row(
      what: "an entry that is gone", sql: "DELETE FROM ledger_entry WHERE sequence = 3",
      kinds: [.sequence, .chain, .balance], entry: 4),
    Row(
      what: "the first entry that is gone", sql: "DELETE FROM ledger_entry WHERE sequence = 1",
      kinds: [.sequence, .chain, .balance], entry: 2),
    Row(
      what: "the last entry that is gone", sql: "DELETE FROM ledger_entry WHERE sequence = 6",
      kinds: [.stored, .tree], entry: nil),
    Row(
      what: "two entries exchanged",
      sql: """
        UPDATE ledger_entry SET sequence = -1 WHERE sequence = 3; UPDATE ledger_entry SET sequence = 3 WHERE sequence = 4;
        UPDATE ledger_entry SET sequence = 4 WHERE sequence = -1
        """, kinds: [.chain, .balance, .sum, .tree], entry: 3),
    Row(
      what: "a reversal of another entry", sql: "UPDATE ledger_entry SET reverses = 1 WHERE sequence = 5",
      kinds: [.chain, .reversal], entry: 5),
    Row(
      what: "a balance that the ledger keeps", sql: "UPDATE ledger_balance SET balance = balance + 1 WHERE account = 'shop'",
      kinds: [.stored], entry: nil),
    Row(
      what: "a kept balance that is gone", sql: "DELETE FROM ledger_balance WHERE account = 'shop'", kinds: [.stored],
      entry: nil),
    Row(what: "all leaves of the tree", sql: "DELETE FROM node", kinds: [.tree], entry: nil),
    Row(
      what: "an account without entries",
      sql: "INSERT INTO ledger_balance SELECT ns, 'till', unit, 5 FROM ledger_balance LIMIT 1", kinds: [.stored], entry: nil),
  ]

  /// Entries: bob 100, eve 7, bob 50, bob to the shop 20, the reversal of 2, an admin's edit of eve.
  private func makeLedger() async throws -> LedgerFixture {
    let fixture = try await LedgerFixture()
    try await fixture.pay("bob", 100, key: "first")
    try await fixture.pay("eve", 7, key: "second")
    try await fixture.pay("bob", 50, key: "third")
    try await fixture.write(transfers: [.moving(20, from: "user:bob", to: "shop", key: "fourth")])
    _ = try await fixture.ledger.reverse(2, in: fixture.namespace, by: .admin("ann"), reason: "mistake")
    try await fixture.write(.set(balanceKey("eve"), 12))
    return fixture
  }

  @Test("Check 61: a tampered entry breaks the audit at that entry", arguments: rows)
  func tampered(_ row: Row) async throws {
    let fixture = try await makeLedger()
    #expect(try fixture.verify().isSound)
    let path = fixture.engine.path
    fixture.close()
    try execute(row.sql, in: path)

    let engine = try TestStore.open(fixture.folder.path)
    defer { engine.close() }
    let report = try engine.read { snapshot in
      try LedgerAudit.verify(snapshot, namespace: fixture.namespace, currencies: fixture.table)
    }
    #expect(!report.isSound)
    #expect(Set(report.faults.map(\.kind)) == row.kinds, "\(report.faults)")
    #expect(report.firstBrokenEntry == row.entry, "\(report.faults)")
    #expect(report.faultCount == report.faults.count)
    #expect(report.faults.allSatisfy { !$0.message.isEmpty })
  }

  @Test("An audit of an empty ledger is sound")
  func empty() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let report = try fixture.verify()
    #expect(report.isSound && report.entryCount == 0 && report.firstBrokenEntry == nil)
  }

  @Test("A balance from before its currency was declared is reported, for no entry accounts for it")
  func undeclared() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    try await fixture.write(.set("/users/bob/gems", 5))
    let table = try CurrencyTable([.piecesOfEight, Currency(unit: "gems", pattern: "users/{uid}/gems")])
    let ledger = LedgerService(engine: fixture.engine, writer: fixture.database, currencies: table)
    #expect(try ledger.verify(fixture.namespace).faults.map(\.kind) == [.tree])
  }

  @Test("Values that are no integers are listed as unbacked, by place")
  func unbacked() async throws {
    let fixture = try await LedgerFixture()
    defer { fixture.close() }
    let below: TreeNode = ["x": 1]
    try await fixture.write(
      .set(balanceKey("a"), "5"), .set(balanceKey("b"), 1e300), .set(balanceKey("c"), ["d": 5]),
      .set(balanceKey("d"), .leaf(5, priority: 1)),
      .set(balanceKey("e"), TreeNode.map(below.children, priority: 2)))
    let report = try fixture.verify()
    #expect(report.isSound)
    #expect(report.unbacked.map(\.account.name) == ["user:a", "user:b", "user:c", "user:e"])
    #expect(report.unbacked.first?.path == "/users/a/inventory/pieces_of_eight")
    #expect(report.unbackedCount == 4)
  }
}

/// Changes a store's file behind the program's back; the store must be closed.
func execute(_ sql: String, in path: String) throws {
  var connection: OpaquePointer?
  try #require(sqlite3_open(path, &connection) == SQLITE_OK)
  defer { sqlite3_close(connection) }
  try #require(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK)
  try #require(sqlite3_total_changes(connection) > 0)
}
