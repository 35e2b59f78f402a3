import FunctionsKit
package import StorageCore
import Synchronization
import TreeModel

extension Dispatcher {
  /// The registered functions.
  package var functions: [FunctionStatus] {
    let states = withState(\.functions)
    return zip(table.definitions, states).enumerated().map { position, pair in
      let (definition, state) = pair
      return FunctionStatus(
        name: state.name, pattern: definition.pattern.description, trigger: definition.trigger.rawValue,
        filter: definition.filter.description, settings: table.settings[position], isPaused: state.phase == .paused,
        pauseReason: state.phase == .paused ? state.pauseReason : nil, counts: state.counts,
        isInline: state.pace.isInline && options.inline.isEnabled, meanTime: state.pace.mean, time: state.time)
    }
  }

  /// What waits for functions now. Nothing is counted for it: all of it is known, and read when somebody asks.
  package var backlog: EventBacklog {
    withState { state in
      EventBacklog(
        ready: state.queue.readyCount, behind: state.queue.behind, held: state.queue.held, running: state.active.count,
        threads: state.runnerCount, lagging: state.namespaces.values.count { $0.isLagging || $0.isLoading },
        oldest: state.namespaces.compactMap { namespace, state in
          state.oldestUnsettled.map { EventBacklog.Place(namespace: namespace, revision: $0) }
        })
    }
  }

  /// Stops a function: its events are kept, and run when it is resumed. Runs under way end.
  package func pause(_ name: String, because reason: String) async throws {
    let function = try position(of: name)
    let now = clock.now()
    let namespace = try anyNamespace()
    let record = withState { state in
      state.pause(function, because: reason, byEngine: false, in: nil, at: now)
      return FunctionRecord(state.table.definitions[function], state.functions[function], at: now)
    }
    try await store(record, in: namespace)
  }

  /// Lets a function run again, and first everything that was kept while it was paused.
  package func resume(_ name: String) async throws {
    let function = try position(of: name)
    let now = clock.now()
    let record = withState { state -> FunctionRecord? in
      state.functions[function].pace.forgive()
      guard state.functions[function].phase == .paused else { return nil }
      state.functions[function].phase = .resuming
      state.functions[function].abandoned = 0
      return FunctionRecord(state.table.definitions[function], state.functions[function], at: now)
    }
    guard let record else { return }
    do {
      try await store(record, in: try anyNamespace())
      await allParked(function)
      let namespaces = try engine.read { (snapshot) throws(StorageError) in try snapshot.namespaces().map(\.id) }
      let isDone = await withCheckedContinuation { continuation in
        let canRun = withState { state in
          guard !state.isStopping, state.functions[function].phase == .resuming else { return false }
          state.functions[function].resumeWaiters.append(continuation)
          state.beginResume(function, kept: KeptDeliveries(of: name, in: namespaces))
          return true
        }
        if !canRun { continuation.resume(returning: false) }
      }
      guard isDone else {
        throw AdministrationError(
          .conflict, "\(name) was paused again, or the server stops, before all was read that was kept.")
      }
    } catch {
      // Paused as before: what came meanwhile is kept with the rest.
      withState { $0.endResume(function, isDone: false) }
      throw error
    }
  }

  /// Delivers an event again to the functions that want it, or to one of them. A function that has handled it runs, and
  /// then finds its record: nothing happens a second time.
  ///
  /// - Returns: the functions that will run.
  @discardableResult
  package func redeliver(_ event: EventID, in namespace: NamespaceID, to name: String? = nil) throws -> [String] {
    let loaded = try engine.read { (snapshot) throws(StorageError) in
      try LoadedEvent.one(event, in: namespace, from: snapshot)
    }
    guard let loaded else {
      throw AdministrationError("There is no event \(event). List the events to find its id.")
    }
    let pruned = try engine.read { (snapshot) throws(StorageError) in try snapshot.prunedRevision(of: namespace) }
    guard event.revision > pruned else {
      throw AdministrationError(
        .conflict, "The log was pruned up to revision \(pruned): what \(event) saw is not known any more, so it cannot be run.")
    }
    try refuseErased(event, in: namespace)
    let facts = loaded.event.facts
    let wanting = table.wanting(facts.record.id.path, kind: facts.record.kind, change: loaded.event.change)
      .filter { name == nil || table.definitions[$0].name == name }
    withState { state in
      for function in wanting {
        guard loaded.event.known.isDisjoint(with: table.definitions[function].options.formerly) else {
          // The writer knows a function by one name only.
          state.functions[function].counts.alreadyDone += 1
          continue
        }
        let stored = loaded.deliveries.first { $0.function == table.definitions[function].name }
        // A delivery that waits, or is kept, has its own turn; a second one beside it would only meet its record.
        if let stored, stored.state != .dead { continue }
        var delivery = Delivery(facts, to: function, of: table.definitions[function], root: facts.revision)
        delivery.isStored = stored != nil
        delivery.isAgain = true
        delivery.isHandled = loaded.event.known.contains(table.definitions[function].name)
        state.begin(delivery)
        state.route(delivery)
      }
    }
    return wanting.map { table.definitions[$0].name }
  }

  /// Tries dead letters again, with all their attempts.
  ///
  /// - `function`: whose; nil for all functions.
  /// - `event`: of which event; nil for all.
  /// - Returns: how many.
  package func retryDeadLetters(in namespace: NamespaceID, of function: String? = nil, event: EventID? = nil) async throws
    -> Int
  {
    let now = clock.now()
    var count = 0
    for letter in try deadLetters(in: namespace, of: function, event: event) {
      guard table.position(of: letter.function) != nil else { continue }
      let again = DeliveryRecord(
        event: letter.event, kind: letter.kind, hop: letter.hop, function: letter.function, state: .waiting, attempts: 0,
        crashes: 0, nextAttemptAt: now, lastError: letter.lastError, updatedAt: now)
      var request = CommitRequest(namespace: namespace, actor: .system("triggers"))
      request.triggers.deliveries = [again]
      try await commit(request)
      withState { state in
        guard let delivery = state.delivery(again, in: namespace) else { return }
        state.begin(delivery)
        state.route(delivery)
      }
      count += 1
    }
    return count
  }

  /// Closes dead letters without running them: they are recorded as skipped, `acknowledged`, with the reason behind it.
  ///
  /// - Returns: how many.
  package func acknowledgeDeadLetters(
    in namespace: NamespaceID, of function: String? = nil, event: EventID? = nil, because reason: String? = nil
  ) async throws -> Int {
    let now = clock.now()
    let letters = try deadLetters(in: namespace, of: function, event: event)
    for letter in letters {
      var request = CommitRequest(namespace: namespace, actor: .system("triggers"))
      request.triggers.execution = ExecutionRecord(
        event: letter.event, function: letter.function, outcome: .skipped,
        reason: reason.map { "acknowledged: \($0)" } ?? "acknowledged",
        attempt: max(letter.attempts, 1), startedAt: now, finishedAt: now, settings: nil)
      request.triggers.settles = (letter.event, letter.function)
      try await settle(letter, by: request)
    }
    return letters.count
  }

  /// Closes a letter. One whose event was handled all the same has its record, and only goes.
  private func settle(_ letter: DeliveryRecord, by request: CommitRequest) async throws {
    do {
      try await commit(request)
    } catch {
      guard case .alreadyExecuted = error.code else { throw error }
      var request = request
      request.triggers.execution = nil
      try await commit(request)
    }
  }

  /// Refuses to run an event whose values were erased, for a player who left.
  func refuseErased(_ event: EventID, in namespace: NamespaceID) throws {
    guard let path = event.path.path else { return }
    let erased = try engine.read { (snapshot) throws(StorageError) in
      try snapshot.erasedPath(in: namespace, around: path, asOf: event.revision)
    }
    guard let erased else { return }
    throw AdministrationError(
      .conflict,
      "\(erased.path) was erased up to revision \(erased.through): what \(event) saw is not known any more, so it cannot be run."
    )
  }

  // MARK: Looking things up

  private func position(of name: String) throws -> Int {
    guard let position = table.position(of: name) else { throw AdministrationError.unknownFunction(name) }
    return position
  }

  private func anyNamespace() throws -> NamespaceID {
    let first = try engine.read { (snapshot) throws(StorageError) in try snapshot.namespaces().first }
    return first?.id ?? NamespaceID(rawValue: 0)
  }

  private func store(_ record: FunctionRecord, in namespace: NamespaceID) async throws {
    var request = CommitRequest(namespace: namespace, actor: .system("triggers"))
    request.triggers.functions = [record]
    try await commit(request)
  }

  /// Waits until no record of a paused function is on its way to the disk.
  private func allParked(_ function: Int) async {
    await withCheckedContinuation { continuation in
      let isReady = withState { state in
        guard state.functions[function].parking > 0 else { return true }
        state.functions[function].parkingWaiters.append(continuation)
        return false
      }
      if isReady { continuation.resume() }
    }
  }

  private func deadLetters(in namespace: NamespaceID, of function: String?, event: EventID?) throws -> [DeliveryRecord] {
    try engine.read { (snapshot) throws(StorageError) in
      let letters =
        if let event {
          try snapshot.deliveries(in: namespace, of: event).filter { $0.state == .dead }
        } else {
          try snapshot.allDeliveries(in: namespace, state: .dead)
        }
      return letters.filter { function == nil || $0.function == function }
    }
  }
}

extension Snapshot {
  /// All deliveries in one state, page by page.
  func allDeliveries(in namespace: NamespaceID, state: DeliveryRecord.State) throws(StorageError) -> [DeliveryRecord] {
    var found: [DeliveryRecord] = []
    while true {
      let page = try deliveries(in: namespace, state: state, after: found.last, limit: 512)
      found += page
      guard page.count == 512 else { return found }
    }
  }
}

/// What a replay asks of the dispatcher. Replayed events are queued like any other: ordering keys, retries and
/// deadlines hold, and the writer's one check sees to it that nothing happens twice.
extension Dispatcher {
  /// Takes in deliveries whose records were just stored, tries at once what waits for its retry, and waits until all of them
  /// have come to rest: handled, dead, paused, or waiting for a retry.
  ///
  /// - Returns: false if the dispatcher stopped first.
  func deliver(_ records: [DeliveryRecord], hurrying retries: Set<ReplayItem>, in namespace: NamespaceID) async -> Bool {
    let waiter = withState { state -> Int? in
      guard !state.isStopping else { return nil }
      // Also those whose time had come by itself.
      var roots = state.hurry(retries, in: namespace).union(retries.map(\.event.revision))
      for record in records {
        guard let delivery = state.delivery(record, in: namespace) else { continue }
        state.begin(delivery)
        state.route(delivery)
        roots.insert(delivery.root)
      }
      let waiter = state.addWaiter()
      for root in roots { state.watch(root, in: namespace, for: waiter) }
      return waiter
    }
    guard let waiter else { return false }
    return await suspend(waiter)
  }

  /// Whether functions run, or will, so that something can be given to them.
  var isServing: Bool { hasWriter && !state.withLock(\.isStopping) }
}

extension DispatchState {
  /// Makes the time of these retries now.
  ///
  /// - Returns: the roots of those that were found waiting.
  mutating func hurry(_ items: Set<ReplayItem>, in namespace: NamespaceID) -> Set<Revision> {
    guard !items.isEmpty else { return [] }
    let found = timers.remove { timed in
      guard case .retry(let delivery) = timed, delivery.namespace == namespace else { return false }
      return items.contains(ReplayItem(event: delivery.event, function: functions[delivery.function].name))
    }
    var roots: Set<Revision> = []
    for delivery in found.compactMap(\.delivery) {
      begin(delivery)
      free(delivery.orderingKey)
      requeue(delivery)
      roots.insert(delivery.root)
    }
    return roots
  }
}

/// What was asked of the dispatcher cannot be done.
package struct AdministrationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of reason.
  package enum Code: Sendable, Hashable {
    /// What was named does not exist.
    case notFound
    /// It contradicts the state of things.
    case conflict
    /// The order makes no sense.
    case invalid
  }

  /// What kind of reason.
  package let code: Code
  /// What was wrong, and what to do: a sentence for the administrator.
  package let message: String

  init(_ message: String) {
    self.init(.notFound, message)
  }

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  static func unknownFunction(_ name: String) -> AdministrationError {
    AdministrationError("No function is called \"\(name)\". List the functions to see their names.")
  }

  package var description: String { message }
}
