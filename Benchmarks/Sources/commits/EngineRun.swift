import AccessRules
import Measuring
import StorageCore
import StorageSQLite
import Synchronization
import TreeDatabase
import TreeModel

/// Doubloon's write path, from the queue to the disk: queue, pipeline, group commit, log, history.
final class EngineRun {
  private let plan: Plan
  private let engine: SQLiteEngine
  private let groups = GroupCounter()
  private let database: Database
  private let namespace: NamespaceID
  private let writers: Writers

  /// Opens a store in an empty folder and gives every player a level.
  ///
  /// - Parameter rules: what judges every write; nil for a tree that is open.
  init(plan: Plan, folder: String, rules: String? = nil) async throws {
    self.plan = plan
    engine = try SQLiteEngine(directory: folder)
    database = try Database(engine: engine, participants: [], observers: [groups], clock: SystemClock())
    namespace = try await database.openNamespace(named: "bench")
    writers = Writers(plan: plan, database: database, namespace: namespace)
    try await fill()
    if let rules { try await database.putRules(rules, rules: try RuleSet(parsing: rules), in: namespace) }
  }

  func close() {
    database.shutDown()
    engine.close()
  }

  /// Commits so many writes; may be called again.
  func measure(commits: Int) async throws -> Measurement {
    groups.reset()
    let watch = Stopwatch()
    try await withCheckedThrowingContinuation { writers.start(commits: commits, $0) }
    return watch.stop(commits: commits, groupSize: groups.average)
  }

  /// Every player gets a level, 10,000 in one commit.
  private func fill() async throws {
    for start in stride(from: 0, to: plan.players, by: 10_000) {
      let assignments = try (start..<min(start + 10_000, plan.players)).map { player in
        WriteOperation.Assignment(path: try Self.path(player), value: .node(WriteNode(.leaf(.int(0)))))
      }
      _ = try await database.commit(
        CommitRequest(namespace: namespace, actor: .admin("bench"), operations: [try .update(.root, assignments)]))
    }
  }

  static func path(_ player: Int) throws -> Path { try Path(parsing: "users/p\(player)/level") }
}

/// So many writers, each of which begins its next write when the one before is durable. Each has players of its own, whose
/// level it raises by one, in the player's name.
final class Writers: Sendable {
  private struct State {
    /// Of the writes that were asked for: how many are to begin, and to end.
    var toBegin = 0
    var toEnd = 0
    var draw = Draw(seed: 1)
    var levels: [Int32]
    var waiting: CheckedContinuation<Void, any Error>?
  }

  private let plan: Plan
  private let database: Database
  private let namespace: NamespaceID
  private let state: Mutex<State>

  init(plan: Plan, database: Database, namespace: NamespaceID) {
    state = Mutex(State(levels: [Int32](repeating: 0, count: plan.players)))
    self.plan = plan
    self.database = database
    self.namespace = namespace
  }

  /// Starts all writers; the continuation goes on when the last commit is durable.
  func start(commits: Int, _ waiting: CheckedContinuation<Void, any Error>) {
    state.withLock { state in
      (state.toBegin, state.toEnd, state.waiting) = (commits, commits, waiting)
    }
    for writer in 0..<plan.writers { next(writer) }
  }

  private func next(_ writer: Int) {
    let write = state.withLock { state -> (Int, Int)? in
      guard state.toBegin > 0 else { return nil }
      state.toBegin -= 1
      let player = state.draw.next(below: plan.players / plan.writers) * plan.writers + writer
      state.levels[player] += 1
      return (player, Int(state.levels[player]))
    }
    guard let (player, level) = write else { return }
    do {
      let operation = WriteOperation.set(try EngineRun.path(player), .leaf(.int(Int64(level))))
      let user = AuthVariable(json: ["uid": .string("p\(player)"), "provider": "password"])
      var request = CommitRequest(namespace: namespace, actor: user.actor, operations: [operation])
      request.access.auth = user
      database.submit(request) { [self] result in finish(result, writer) }
    } catch {
      end(.failure(error))
    }
  }

  private func finish(_ result: Result<CommitReceipt, CommitError>, _ writer: Int) {
    if case .failure(let error) = result { return end(.failure(error)) }
    let isLast = state.withLock { state in
      state.toEnd -= 1
      return state.toEnd == 0
    }
    if isLast { end(.success(())) } else { next(writer) }
  }

  private func end(_ result: Result<Void, any Error>) {
    let waiting = state.withLock { state in
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(with: result)
  }
}

/// Counts how many requests share a transaction.
final class GroupCounter: CommitObserver {
  private let counts = Mutex((batches: 0, requests: 0))

  func didCommit(_ batch: [CommittedRequest]) {
    counts.withLock { counts in
      counts.batches += 1
      counts.requests += batch.count
    }
  }

  func reset() { counts.withLock { $0 = (0, 0) } }

  var average: Int { counts.withLock { $0.batches == 0 ? 1 : max(1, $0.requests / $0.batches) } }
}
