import Dispatch
import StorageCore
import StorageSQLite
import StorageTestSupport
import TestSupport
import TreeDatabase
import TreeModel

/// A database on a real file in a folder of its own, at a clock that stands still.
struct DatabaseFixture {
  let folder: TemporaryFolder
  let clock: AdjustableClock
  let engine: SQLiteEngine
  let database: Database
  let namespace: NamespaceID

  static let start: Int64 = 1_700_000_000_000

  init(
    folder: TemporaryFolder = TemporaryFolder(), participants: [any CommitParticipant] = [],
    observers: [any CommitObserver] = [], limits: WriteLimits = WriteLimits()
  ) async throws {
    self.folder = folder
    clock = AdjustableClock(frozenAt: Self.start)
    engine = try TestStore.open(folder.path)
    database = try Database(
      engine: engine, participants: participants, observers: observers, limits: limits, clock: clock)
    namespace = try await database.openNamespace(named: "game")
  }

  func close() {
    database.shutDown()
    engine.close()
  }

  @discardableResult
  func write(_ operations: WriteOperation...) async throws(CommitError) -> CommitReceipt {
    try await database.commit(CommitRequest(namespace: namespace, actor: .admin("test"), operations: operations))
  }

  func node(_ path: Path = .root) throws -> TreeNode {
    let place = PathBytes(path)
    let leaves = try engine.read { (snapshot) throws(StorageError) in
      try snapshot.leaves(in: namespace, under: place, limit: .max)
    }
    guard let node = TreeNode(leaves: leaves.map(\.leaf), at: place) else {
      throw StorageError(.damaged, "The leaves make no tree.")
    }
    return node
  }

  func head() throws -> NamespaceHead {
    try engine.read { (snapshot) throws(StorageError) in try snapshot.head(of: namespace) }
  }

  func commits() throws -> [CommitRecord] {
    try engine.read { (snapshot) throws(StorageError) in
      try snapshot.commits(in: namespace, after: .zero, limit: .max)
    }
  }
}

/// Stops the writer at chosen requests, so that a test decides what waits in its queue.
final class WriterGate: CommitObserver {
  private static let name = "gate"
  private let opened = DispatchSemaphore(value: 0)
  private let arrivals: AsyncStream<Void>
  private let arrived: AsyncStream<Void>.Continuation

  init() {
    (arrivals, arrived) = AsyncStream.makeStream()
  }

  func didCommit(_ batch: [CommittedRequest]) {
    for committed in batch where committed.request.log.requestID == Self.name {
      arrived.yield()
      opened.wait()
    }
  }

  /// Queues a request at which the writer stops.
  func close(_ database: Database, in namespace: NamespaceID, round: Int) {
    var request = CommitRequest(
      namespace: namespace, actor: .admin("gate"), operations: [.set("gate", .leaf(.int(Int64(round))))])
    request.log.requestID = Self.name
    database.submit(request) { _ in }
  }

  /// Waits until the writer stands at the gate.
  func arrival() async {
    for await _ in arrivals { return }
  }

  func open() { opened.signal() }
}
