import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeModel

@testable import TreeDatabase

/// What the writer counts of itself.
struct WriterStatisticsTests {
  @Test("A value is counted in the first bucket whose bound it does not exceed, and above all bounds in the last")
  func buckets() {
    let tally = Tally(bounds: [1, 10, 100])
    for value: Int64 in [0, 1, 2, 10, 11, 100, 101, 5000] { tally.add(value) }
    #expect(tally.reading == Tally.Reading(counts: [2, 2, 2, 2], sum: 5225))
  }

  @Test("Each batch is counted once, with all its requests, and with how long the disk took")
  func batches() async throws {
    let engine = try SQLiteEngine.inMemory()
    let database = try Database(engine: engine, participants: [], clock: AdjustableClock(frozenAt: 1_700_000_000_000))
    let namespace = try await database.openNamespace(named: "a")
    for number in 0..<20 {
      let write = try WriteOperation.set(Path(parsing: "/n/\(number)"), TreeNode(json: .int(Int64(number))))
      let request = CommitRequest(namespace: namespace, actor: .admin("test"), operations: [write])
      _ = try await database.commit(request)
    }
    database.shutDown()
    engine.close()
    let (sizes, times) = (database.statistics.batchRequests.reading, database.statistics.flushMicroseconds.reading)
    #expect(sizes.sum == 21 && sizes.counts[0] == 21)
    #expect(times.counts.reduce(0, +) == 21 && times.sum >= 0)
    #expect(database.statistics.overloads == 0)
  }
}
