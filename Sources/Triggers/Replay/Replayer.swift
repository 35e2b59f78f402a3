import FunctionsKit
package import Logging
package import StorageCore
import Synchronization
import TreeModel

/// Gives events to functions again, or for the first time: the failed ones, the gaps, or all.
///
/// A replay is a durable record with a cursor. Each step is one commit that stores the deliveries of a page, together with
/// the cursor behind it; the dispatcher then runs them like anything that waits. A process that dies finds both or neither,
/// so a replay goes on where it was, and what was given to a function is not forgotten. See <doc:Replay>.
///
/// One replay works at a time; at most ``ReplayOptions/pairsMax`` of its events are on their way, so that live events are
/// never far behind.
package final class Replayer: Sendable {
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
  package let dispatcher: Dispatcher
  let engine: any StorageEngine
  let writer: any TreeWriter
  let clock: any WallClock
  let options: ReplayOptions
  let logger: Logger
  let state = Mutex(State())
  private let queue: AsyncStream<Key>
  let queueEnd: AsyncStream<Key>.Continuation

  /// A replayer for a dispatcher; `writer` takes the dispatcher's own requests.
  package init(
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
  package func run() async throws {
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
    try? await store(record.with(.failed, progress: progress, at: clock.now()), in: key.namespace)
  }

  // MARK: Records

  func record(_ key: Key) throws -> ReplayRecord {
    let record = try engine.read { (snapshot) throws(StorageError) in try snapshot.replay(in: key.namespace, id: key.id) }
    guard let record else { throw AdministrationError("There is no replay \(key.id). List them to see their numbers.") }
    return record
  }

  func store(_ record: ReplayRecord, in namespace: NamespaceID, audit: AuditRecord? = nil) async throws(CommitError) {
    var request = CommitRequest(namespace: namespace, actor: .system("replay"))
    var upkeep = Maintenance()
    upkeep.replay = record
    request.rows.maintenance = upkeep
    request.log.audit = audit
    try await commit(request)
  }

  func commit(_ request: CommitRequest) async throws(CommitError) {
    _ = try await writer.commit(request)
  }

  /// What a person wants of a replay; nil if nothing was said.
  func wish(for key: Key) -> ReplayRecord.State? { state.withLock { $0.wishes[key] } }

  /// Does long work on a thread of its own: it reads much and must not hold up requests.
  package func onOwnThread<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
    let thread = RunnerThread()
    defer { thread.stop() }
    return try await withTaskExecutorPreference(thread) { try await body() }
  }
}

extension ReplayRecord {
  /// The same, further on.
  func with(_ state: State, progress: ReplayProgress, at now: Int64) -> ReplayRecord {
    ReplayRecord(id: id, state: state, order: order, progress: progress.json, createdAt: createdAt, updatedAt: now)
  }
}

extension Replayer {
  /// Begins a replay; it is at work when the call returns, or waits behind another.
  ///
  /// - Throws: `AdministrationError` if the order names what does not exist, or if a function would be given events that
  ///   another has handled and the order does not allow it.
  package func start(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> ReplayRecord {
    guard !order.reason.isEmpty else { throw AdministrationError(.invalid, "A replay needs a reason, for the record.") }
    guard dispatcher.isServing else {
      throw AdministrationError(
        .conflict, "No functions run here. Ask the server that has the data open, or start it, and replay then.")
    }
    let (scan, progress) = try beginning(of: order, in: namespace)
    if order.mode != .failed, !order.allowsHandled {
      try await refuseHandled(ReplaySurvey.make(of: scan, from: progress.cursor, by: self))
    }
    let id = try nextID(in: namespace)
    let now = clock.now()
    let record = ReplayRecord(
      id: id, state: .running, order: order, progress: progress.json, createdAt: now, updatedAt: now)
    try await store(record, in: namespace)
    queueEnd.yield(Key(namespace: namespace, id: id))
    return record
  }

  /// Stops a replay after what is on its way; ``resume(_:in:)`` goes on.
  package func pause(_ id: Int64, in namespace: NamespaceID) throws -> ReplayRecord {
    try wish(.paused, for: Key(namespace: namespace, id: id), unless: "is not at work")
  }

  /// Ends a replay after what is on its way. What was given to functions stays theirs.
  package func cancel(_ id: Int64, in namespace: NamespaceID) async throws -> ReplayRecord {
    let key = Key(namespace: namespace, id: id)
    let record = try record(key)
    if record.state == .paused {
      let cancelled = record.with(.cancelled, progress: ReplayProgress(record.progress), at: clock.now())
      try await store(cancelled, in: namespace)
      return cancelled
    }
    return try wish(.cancelled, for: key, unless: "is over already")
  }

  /// Goes on with a replay that was paused, or that failed.
  package func resume(_ id: Int64, in namespace: NamespaceID) async throws -> ReplayRecord {
    let key = Key(namespace: namespace, id: id)
    let record = try record(key)
    guard record.state == .paused || record.state == .failed else {
      if record.state == .running {
        // It may just be on its way to the pause.
        state.withLock { $0.wishes[key] = nil }
        return record
      }
      throw AdministrationError(.conflict, "Replay \(id) is \(record.state.rawValue); begin another one.")
    }
    state.withLock { $0.wishes[key] = nil }
    var progress = ReplayProgress(record.progress)
    progress.failure = nil
    let again = record.with(.running, progress: progress, at: clock.now())
    try await store(again, in: namespace)
    queueEnd.yield(key)
    return again
  }

  private func wish(_ state: ReplayRecord.State, for key: Key, unless sentence: String) throws -> ReplayRecord {
    let record = try record(key)
    guard record.state == .running else {
      throw AdministrationError(.conflict, "Replay \(key.id) is \(record.state.rawValue); it \(sentence).")
    }
    self.state.withLock { $0.wishes[key] = state }
    return record
  }

  // MARK: Beginning

  /// What an order means now: what is gone through, and from where.
  func beginning(of order: ReplayOrder, in namespace: NamespaceID) throws -> (scan: ReplayScan, progress: ReplayProgress) {
    let (through, pruned) = try engine.read { (snapshot) throws(StorageError) in
      (try snapshot.head(of: namespace).revision, try snapshot.prunedRevision(of: namespace))
    }
    if order.mode != .failed, let event = order.event {
      guard event.revision > pruned else {
        throw AdministrationError(
          .conflict,
          "The log was pruned up to revision \(pruned): what \(event) saw is not known any more, so it cannot be run.")
      }
      try dispatcher.refuseErased(event, in: namespace)
      guard event.revision <= through, event.epoch > 0 else {
        throw AdministrationError("There is no event \(event). List the events to find its id.")
      }
    }
    let scan = try ReplayScan(order, in: namespace, through: through, of: dispatcher)
    let cursor = try engine.read { (snapshot) throws(StorageError) in try scan.start(in: snapshot) }
    return (scan, ReplayProgress(cursor: cursor, through: through, pruned: pruned))
  }

  private func refuseHandled(_ survey: ReplaySurvey) throws {
    let handled = survey.functions.filter { !$0.value.handledBy.isEmpty }.sorted { $0.key < $1.key }
    guard let (name, counts) = handled.first else { return }
    let others = counts.handledBy.sorted { $0.key < $1.key }.map { "\($0.value) by \($0.key)" }.joined(separator: ", ")
    throw AdministrationError(
      .conflict,
      "\(name) would be given events that other functions have handled: \(others). If both are to have them, allow it with "
        + "--allow-handled; if \(name) took the other's place, name that one in its `formerly`; else name the function to "
        + "replay with --function.")
  }

  private func nextID(in namespace: NamespaceID) throws -> Int64 {
    let stored = try engine.read { (snapshot) throws(StorageError) in
      try snapshot.replays(in: namespace, before: nil, limit: 1).first?.id ?? 0
    }
    return state.withLock { state in
      let id = max(stored, state.lastIDs[namespace] ?? 0) + 1
      state.lastIDs[namespace] = id
      return id
    }
  }
}

extension Replayer {
  /// One replay.
  package func show(_ id: Int64, in namespace: NamespaceID) throws -> ReplayRecord {
    try record(Key(namespace: namespace, id: id))
  }

  /// The replays, newest first, before one.
  package func list(in namespace: NamespaceID, before id: Int64?, limit: Int) throws -> [ReplayRecord] {
    try engine.read { (snapshot) throws(StorageError) in
      try snapshot.replays(in: namespace, before: id, limit: limit)
    }
  }

  /// What a replay gave to functions, in the order of the events, with what has become of it by now.
  ///
  /// - `last`: where to go on: the last item of the page before.
  package func items(of id: Int64, in namespace: NamespaceID, after last: ReplayItem?, limit: Int) throws -> [ReplayedItem] {
    _ = try record(Key(namespace: namespace, id: id))
    return try engine.read { (snapshot) throws(StorageError) in
      var found: [ReplayedItem] = []
      for item in try snapshot.replayItems(in: namespace, of: id, after: last, limit: limit) {
        let execution = try snapshot.execution(in: namespace, of: item.event, by: item.function)
        let delivery = try snapshot.delivery(in: namespace, of: item.event, to: item.function)
        found.append(
          ReplayedItem(
            item: item, outcome: execution?.outcome.rawValue ?? delivery?.state.rawValue ?? "underway",
            reason: execution?.reason ?? delivery?.lastError, effect: execution?.effect))
      }
      return found
    }
  }
}

/// What a replay gave to a function, and what became of it.
package struct ReplayedItem: Sendable, Hashable {
  package let item: ReplayItem
  /// The outcome of the execution, else the state of the delivery, else `underway`.
  package let outcome: String
  package let reason: String?
  /// The commit of its effect.
  package let effect: Revision?
}

/// How replays work; with all limits.
package struct ReplayOptions: Sendable {
  /// Replays that wait for their turn.
  static let queueMax = 100

  /// Pairs of event and function that are on their way at once: what a live event may find before it. A commit with more
  /// events than that is still given whole.
  package var pairsMax: Int
  /// Runs that a preview, or a dry run, makes at most; it says so when there would be more.
  package var trialsMax: Int

  /// Options; the defaults leave capacity for live events. A number below 1 is a mistake of the programmer and traps.
  package init(pairsMax: Int = 64, trialsMax: Int = 2000) {
    precondition(pairsMax > 0 && trialsMax > 0, "A replay gives at least one event at a time.")
    self.pairsMax = pairsMax
    self.trialsMax = trialsMax
  }
}
