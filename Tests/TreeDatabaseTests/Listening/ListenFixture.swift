import StorageCore
import StorageSQLite
import StorageTestSupport
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// A database with a hub, and clients that listen.
struct ListenFixture {
  let engine: SQLiteEngine
  let hub: ListenerHub
  let database: Database
  let namespace: NamespaceID
  let executors = [TestExecutor(), TestExecutor()]

  static func run(
    limits: ListenLimits = ListenLimits(), participants: [any CommitParticipant] = [], reads: HeldReads? = nil,
    _ test: (ListenFixture) async throws -> Void
  ) async throws {
    let engine = try TestStore.open()
    let hub = ListenerHub(engine: reads.map { HeldEngine(engine, reads: $0) } ?? engine, limits: limits)
    let database = try Database(
      engine: engine, participants: participants, observers: [hub], clock: AdjustableClock(frozenAt: DatabaseFixture.start))
    hub.search(with: database.reader)
    let namespace = try await database.openNamespace(named: "game")
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(
        try await test(ListenFixture(engine: engine, hub: hub, database: database, namespace: namespace)))
    } catch {
      outcome = .failure(error)
    }
    database.shutDown()
    hub.stop()
    engine.close()
    try outcome.get()
  }

  /// A connection on one of the executors.
  func connect(_ executor: Int = 0) -> MirrorSink {
    let sink = MirrorSink()
    executors[executor].sync { sink.listener = hub.attach(sink, on: executors[executor]) }
    return sink
  }

  func listen(
    _ sink: MirrorSink, _ path: Path, _ query: Query? = nil, format: TreeFormat = .export, hash: String? = nil,
    executor: Int = 0
  ) throws -> Listening {
    try executors[executor].sync {
      try #require(
        sink.begin(ListenRequest(namespace: namespace, path: path, query: query, format: format, dataHash: hash)))
    }
  }

  @discardableResult
  func write(_ operations: WriteOperation...) async throws(CommitError) -> CommitReceipt {
    try await database.commit(CommitRequest(namespace: namespace, actor: .admin("test"), operations: operations))
  }

  /// Waits until the sink has everything that was committed, then looks at it on its executor.
  func settled<T: Sendable>(_ sink: MirrorSink, executor: Int = 0, _ look: @Sendable (MirrorSink) -> T) async -> T {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      sink.listener?.afterDeliveries { continuation.resume() }
    }
    return executors[executor].sync { look(sink) }
  }

  /// The whole tree after each revision, from the commit log.
  func states() throws -> [TreeNode] {
    var leaves: [Leaf] = []
    var states = [TreeNode.absent]
    let commits = try engine.read { (snapshot) throws(StorageError) in
      try snapshot.commits(in: namespace, after: .zero, limit: .max)
    }
    for commit in commits {
      for change in commit.changes ?? [] {
        var (low, high) = (0, leaves.count)
        while low < high {
          let middle = (low + high) / 2
          if leaves[middle].path < change.path { low = middle + 1 } else { high = middle }
        }
        if change.before != nil { leaves.remove(at: low) }
        if let after = change.after { leaves.insert(Leaf(path: change.path, scalar: after), at: low) }
      }
      states.append(try #require(TreeNode(leaves: leaves, at: .root)))
    }
    return states
  }
}
