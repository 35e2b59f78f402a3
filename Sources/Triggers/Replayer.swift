import FunctionsKit
public import Logging
public import StorageCore
import Synchronization
import TreeModel

/// Gives events to functions again, or for the first time: the failed ones, the gaps, or all (design §9).
///
/// A replay is a durable record with a cursor. Each step is one commit that stores the deliveries of a page, together with
/// the cursor behind it; the dispatcher then runs them like anything that waits. A process that dies finds both or neither,
/// so a replay goes on where it was, and what was given to a function is not forgotten. See <doc:Replay>.
///
/// One replay works at a time; at most ``ReplayOptions/pairsMax`` of its events are on their way, so that live events are
/// never far behind.
public final class Replayer: Sendable {
  struct Key: Hashable, Sendable {
    let namespace: NamespaceID
    let id: Int64
  }

  struct State {
    /// What a person wants of a replay that is at work, or queued.
    var wishes: [Key: ReplayRecord.State] = [:]
    var lastIDs: [NamespaceID: Int64] = [:]
    var lastInvocationIDs: [NamespaceID: Int64] = [:]
  }

  /// What runs the functions.
  public let dispatcher: Dispatcher
  let engine: any StorageEngine
  let writer: any TreeWriter
  let clock: any WallClock
  let options: ReplayOptions
  let logger: Logger
  let state = Mutex(State())
  private let queue: AsyncStream<Key>
  let queueEnd: AsyncStream<Key>.Continuation

  /// A replayer for a dispatcher; `writer` is the door that the dispatcher's own requests go through.
  public init(
    dispatcher: Dispatcher, writer: any TreeWriter, options: ReplayOptions = ReplayOptions(),
    logger: Logger = Logger(label: "doubloon.replay")
  ) {
    self.dispatcher = dispatcher
    self.writer = writer
    self.options = options
    self.logger = logger
    engine = dispatcher.engine
    clock = dispatcher.clock
    (queue, queueEnd) = AsyncStream.makeStream(of: Key.self, bufferingPolicy: .bufferingOldest(ReplayOptions.queueMax))
  }

  /// Takes up the replays that an earlier process left, and works through those that are asked for, until the task is
  /// cancelled. Call it once, after the dispatcher's `start(writer:)`.
  public func run() async throws {
    for key in try unfinished() { queueEnd.yield(key) }
    for await key in queue {
      do {
        var run = try ReplayRun(key, of: self)
        try await run.carryOut()
      } catch is CancellationError {
        return
      } catch {
        logger.error("Replay \(key.id) could not go on: \(error)")
        await fail(key, because: "\(error)")
      }
    }
  }

  private func unfinished() throws -> [Key] {
    try engine.read { (snapshot) throws(StorageError) in
      var keys: [Key] = []
      for namespace in try snapshot.namespaces() {
        // Newest first; nobody has a thousand replays at work.
        let known = try snapshot.replays(in: namespace.id, before: nil, limit: 1000).filter { $0.state == .running }
        keys += known.reversed().map { Key(namespace: namespace.id, id: $0.id) }
      }
      return keys
    }
  }

  /// Writes down that a replay is over because of an error; if even that fails, the next start tries again.
  private func fail(_ key: Key, because reason: String) async {
    guard let record = try? record(key) else { return }
    var progress = ReplayProgress(record.progress)
    progress.failure = reason
    try? await store(record.with(.failed, progress, at: clock.now()), in: key.namespace)
  }

  // MARK: Records

  func record(_ key: Key) throws -> ReplayRecord {
    let record = try engine.read { (snapshot) throws(StorageError) in try snapshot.replay(in: key.namespace, id: key.id) }
    guard let record else { throw AdministrationError("There is no replay \(key.id). List them to see their numbers.") }
    return record
  }

  func store(_ record: ReplayRecord, in namespace: NamespaceID, audit: AuditRecord? = nil) async throws(CommitRefusal) {
    var request = CommitRequest(namespace: namespace, actor: .system("replay"))
    var upkeep = Upkeep()
    upkeep.replay = record
    request.upkeep = upkeep
    request.audit = audit
    try await commit(request)
  }

  func commit(_ request: CommitRequest) async throws(CommitRefusal) {
    let result = await withCheckedContinuation { continuation in
      writer.submit(request) { continuation.resume(returning: $0) }
    }
    _ = try result.get()
  }

  /// What a person wants of a replay; nil if nothing was said.
  func wish(for key: Key) -> ReplayRecord.State? { state.withLock { $0.wishes[key] } }

  /// Does long work on a thread of its own: it reads much and must not hold up requests.
  public func onOwnThread<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
    let thread = RunnerThread()
    defer { thread.stop() }
    return try await withTaskExecutorPreference(thread) { try await body() }
  }
}

extension ReplayRecord {
  /// The same, further on.
  func with(_ state: State, _ progress: ReplayProgress, at now: Int64) -> ReplayRecord {
    ReplayRecord(id: id, state: state, order: order, progress: progress.json, createdAt: createdAt, updatedAt: now)
  }
}
