import RewardModel
import StorageCore
import StorageSQLite
import StorageTestSupport
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// What `doubloon log verify` finds in a log that somebody has changed behind the program's back.
@Suite struct LogAuditTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let what: String
    let sql: String
    /// The commit that the first fault is about.
    let revision: Int64
    /// Words of the first fault.
    let says: String

    var testDescription: String { what }
  }

  static let rows = [
    Row(
      what: "another actor", sql: "UPDATE commit_log SET actor = 'user:eve' WHERE revision = 2", revision: 2,
      says: "its hash differs"),
    Row(
      what: "another time", sql: "UPDATE commit_log SET time = time + 1 WHERE revision = 4", revision: 4,
      says: "its hash differs"),
    Row(
      what: "a time that runs backwards", sql: "UPDATE commit_log SET time = time - 1 WHERE revision = 3", revision: 3,
      says: "earlier time"),
    Row(
      what: "the changes of another commit",
      sql: "UPDATE commit_log SET changes = (SELECT changes FROM commit_log WHERE revision = 1) WHERE revision = 2",
      revision: 2, says: "their digest differs"),
    Row(
      what: "changes and a digest to match",
      sql: """
        UPDATE commit_log SET changes = (SELECT changes FROM commit_log WHERE revision = 1),
        digest = (SELECT digest FROM commit_log WHERE revision = 1) WHERE revision = 2
        """, revision: 2, says: "its hash differs"),
    Row(
      what: "changes that are gone", sql: "UPDATE commit_log SET changes = NULL WHERE revision = 3", revision: 3,
      says: "the log was not pruned there"),
    Row(what: "a commit that is gone", sql: "DELETE FROM commit_log WHERE revision = 2", revision: 2, says: "is missing"),
    Row(
      what: "the last commit is gone", sql: "DELETE FROM commit_log WHERE revision = 5", revision: 5,
      says: "should be commit 5, which is another's"),
    Row(
      what: "two commits exchanged",
      sql: """
        UPDATE commit_log SET revision = -1 WHERE revision = 2; UPDATE commit_log SET revision = 2 WHERE revision = 3;
        UPDATE commit_log SET revision = 3 WHERE revision = -1
        """, revision: 2, says: "its hash differs"),
    Row(
      what: "a ledger entry with another amount", sql: "UPDATE ledger_entry SET amount = amount + 1 WHERE sequence = 2",
      revision: 2, says: "Ledger entry 2 is not what was written"),
    Row(
      what: "an execution that claims another's commit",
      sql: "UPDATE execution SET effect = 3 WHERE effect = 5", revision: 5, says: "whose execution does not know it"),
    Row(what: "an execution that is gone", sql: "DELETE FROM execution", revision: 5, says: "whose execution does not know it"),
  ]

  /// Four commits of an administrator, and the effect of a function.
  private func makeLog() async throws -> LedgerFixture {
    let fixture = try await LedgerFixture()
    try await fixture.pay("bob", 100, key: "first")
    try await fixture.pay("eve", 7, key: "second")
    try await fixture.write(.set("/users/bob/level", 5))
    try await fixture.write(.set("/users/eve/level", 6))
    let event = EventID(epoch: 1, revision: Revision(3), path: PathBytes("/users/bob/level"))
    var request = CommitRequest(
      namespace: fixture.namespace, actor: .function("praise"), operations: [.set("/users/bob/praised", true)])
    request.log.cause = Cause(event: event, function: "praise", hop: 1)
    request.triggers.execution = ExecutionRecord(
      event: event, function: "praise", outcome: .done, reason: nil, attempt: 1, startedAt: LedgerFixture.start,
      finishedAt: LedgerFixture.start, settings: nil)
    _ = try await fixture.database.commit(request)
    return fixture
  }

  @Test("A log that was changed is found out at the first commit that is not what was written", arguments: rows)
  func tampered(_ row: Row) async throws {
    let fixture = try await makeLog()
    let before = try fixture.engine.read { snapshot in
      try LogAudit.verify(snapshot, namespace: fixture.namespace)
    }
    #expect(before.isSound, "\(before.faults)")
    #expect(before.commits == 5 && before.entries == 2 && before.executions == 1)
    let path = fixture.engine.path
    fixture.close()
    try execute(row.sql, in: path)

    let engine = try TestStore.open(fixture.folder.path)
    defer { engine.close() }
    let report = try engine.read { snapshot in
      try LogAudit.verify(snapshot, namespace: fixture.namespace)
    }
    let first = try #require(report.faults.first)
    #expect(first.revision == Revision(row.revision), "\(report.faults)")
    #expect(first.message.contains(row.says), "\(report.faults)")
  }
}
