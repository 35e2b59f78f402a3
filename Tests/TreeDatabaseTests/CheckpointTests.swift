import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@Suite("Checkpoints")
struct CheckpointTests {
  @Test(
    "A few large commits are moved out of the log, though they are far fewer than a checkpoint waits for",
    .timeLimit(.minutes(5)))
  func largeCommits() async throws {
    let folder = TemporaryFolder()
    var options = SQLiteOptions()
    options.walBytesMax = 256 << 10
    let engine = try SQLiteEngine(directory: folder.path, options: options)
    let database = try Database(engine: engine, participants: [], clock: SystemClock())
    defer {
      database.shutDown()
      engine.close()
    }
    let namespace = try await database.openNamespace(named: "game")
    #expect(!engine.isCheckpointDue)
    for number in 0..<3 {
      let text = WriteNode(.leaf(.string(String(repeating: "x", count: 500))))
      let assignments = try (0..<1000).map {
        WriteOperation.Assignment(path: try Path(parsing: "batch\(number)/p\($0)"), value: .node(text))
      }
      let operation = try WriteOperation.update(.root, assignments)
      _ = try await database.commit(CommitRequest(namespace: namespace, actor: .admin("test"), operations: [operation]))
    }
    // Each of them is more than the log may hold; the checkpointer is another thread.
    while engine.isCheckpointDue { await Task.yield() }
  }
}
