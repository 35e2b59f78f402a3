import FunctionsKit
package import Logging
package import StorageCore
import Synchronization
import TreeModel

/// Takes events to functions, and the functions' effects to the writer: at least once, with effects exactly once.
///
/// An event is noted when its commit is durable (`didCommit(_:)`, on the writer, which only takes note), waits in the queue
/// of its ordering key, is run on a thread of the dispatcher's own, and what the run asks for is committed as one request
/// together with the record that it ran. The writer refuses a second record for the same event and function, whatever led
/// to the second run: that, not any bookkeeping here, is what makes effects happen once. See <doc:ExactlyOnce>.
///
/// Make it before the database, whose observer it is; call `start(writer:)` before the ports open, then keep
/// ``run()`` going until the server stops.
package final class Dispatcher: CommitObserver, Sendable {
  /// The functions that it runs.
  package let table: TriggerTable
  /// What deadlines, retries and records go by.
  package let clock: any WallClock
  let engine: any StorageEngine
  let options: DispatcherOptions
  let logger: Logger
  let inbox: Inbox
  let alarm: WakeUpTimer
  let notes: CrashNotes?
  let inlineRunner: InlineRunner
  let state: Mutex<DispatchState>
  private let attachedWriter = Mutex<(any TreeWriter)?>(nil)
  private let names = Mutex<[NamespaceID: String]>([:])

  /// - `random`: spreads the retries.
  /// - Throws: if the file of crash notes cannot be opened.
  package init(
    table: TriggerTable, engine: any StorageEngine, clock: any WallClock, options: DispatcherOptions = DispatcherOptions(),
    random: any RandomNumberGenerator & Sendable,
    logger: Logger = Logger(label: "doubloon.triggers")
  ) throws(StorageError) {
    self.table = table
    self.engine = engine
    self.clock = clock
    self.options = options
    self.logger = logger
    inbox = Inbox(capacity: options.eventsMax)
    alarm = WakeUpTimer(clock: clock)
    if let path = options.crashNotesPath { notes = try CrashNotes(path: path) } else { notes = nil }
    inlineRunner = InlineRunner(notes: notes, options: options)
    state = Mutex(DispatchState(table: table, options: options, notes: notes, random: random))
  }

  package func didCommit(_ batch: [CommittedRequest]) {
    inbox.add(batch)
  }

  /// Why the server should not be called ready: functions that the engine paused. Empty if all is well.
  package var unhealthyReasons: [String] {
    state.withLock { state in
      state.functions.filter { $0.phase == .paused && $0.isPausedByEngine }
        .map { "\($0.name) is \($0.pauseReason ?? "paused")." }
    }
  }

  /// What became of a function's runs since the process started; nil if there is no such function.
  package func counts(of function: String) -> FunctionCounts? {
    table.position(of: function).map { position in withState { $0.functions[position].counts } }
  }

  // MARK: The one way to the state

  /// Changes the state, with everything that the writer committed taken in before, and then does what is left to be done.
  func withState<Result: Sendable>(_ body: (inout DispatchState) -> Result) -> Result {
    let now = clock.now()
    let (result, actions) = state.withLock { state in
      if let contents = inbox.take(backlog: state.queue.count) { state.absorb(contents, at: now) }
      let result = body(&state)
      var actions = state.takeActions(at: now)
      if state.isAwaited == state.waiters.isEmpty {
        state.isAwaited.toggle()
        if inbox.expectWaiters(state.isAwaited) { actions.wakesRunner = true }
      }
      return (result, actions)
    }
    perform(actions)
    return result
  }

  private func perform(_ actions: CommitActions) {
    for submission in actions.submissions { submit(submission) }
    if actions.wakesRunner { inbox.wake() }
    if actions.startsTimer { alarm.ring() }
    for (waiter, isReady) in actions.released { waiter.resume(returning: isReady) }
    for waiter in actions.parked { waiter.resume() }
    actions.stopped?.resume()
    for (level, message) in actions.remarks { logger.log(level: level, message) }
  }

  // MARK: The writer

  var writer: any TreeWriter {
    guard let writer = attachedWriter.withLock(\.self) else {
      preconditionFailure("The dispatcher has no writer yet: call start(writer:) first.")
    }
    return writer
  }

  /// Whether the dispatcher was started.
  var hasWriter: Bool { attachedWriter.withLock { $0 != nil } }

  func attach(_ writer: any TreeWriter) {
    attachedWriter.withLock { $0 = writer }
  }

  func submit(_ submission: WriterRequest) {
    if case .effect = submission.purpose { options.failpoint(.effectSubmitted) }
    let purpose = submission.purpose
    writer.submit(submission.request) { [self] result in inbox.add(result, of: purpose) }
  }

  /// Commits a request of the administration's and waits for it.
  func commit(_ request: CommitRequest) async throws(CommitError) {
    _ = try await writer.commit(request)
  }

  // MARK: Names

  /// The name of a namespace, if it was asked for before.
  func knownName(of namespace: NamespaceID) -> String? { names.withLock { $0[namespace] } }

  /// The name of a namespace.
  func name(of namespace: NamespaceID) throws(StorageError) -> String {
    if let known = names.withLock({ $0[namespace] }) { return known }
    let stored = try engine.read { (snapshot) throws(StorageError) in try snapshot.namespaces() }
    return names.withLock { names in
      names = Dictionary(stored.map { ($0.id, $0.name) }) { $1 }
      return names[namespace] ?? "\(namespace.rawValue)"
    }
  }

  /// Drops what is known of a namespace that was forgotten.
  package func forget(_ namespace: NamespaceID) {
    names.withLock { $0[namespace] = nil }
    withState { $0.forget(namespace) }
  }
}

extension Dispatcher {
  /// Compares the registered functions with what storage remembers, settles what a crash left behind, and gets ready.
  ///
  /// Nothing runs before ``run()``. What was settled already is not looked at: a start costs the same after a million
  /// events as after ten.
  package func start(writer: any TreeWriter) async throws -> StartReport {
    attach(writer)
    let now = clock.now()
    var plan = try engine.read { (snapshot) throws(StorageError) in
      try StartPlan(table: table, inline: options.inline, now: now, snapshot: snapshot)
    }
    try await store(plan.functionRecords, in: plan.namespaces.first?.id)
    try await settleCrashes(&plan, at: now)
    for namespace in plan.namespaces {
      let found = try engine.read { (snapshot) throws(StorageError) in
        try plan.deliveries(in: namespace.id, from: snapshot)
      }
      try await store(found.moved, in: namespace.id)
      plan.report.deadLetters += found.moved.count { $0.new.state == .dead }
      plan.report.waiting += found.ready.count
      let settled = namespace.settled
      let suspects = plan.suspects
      withState { $0.open(namespace.id, settled: settled, waiting: found.ready, suspects: suspects) }
    }
    // The writer may not look them up.
    if let first = plan.namespaces.first { _ = try name(of: first.id) }
    let lagging = plan.namespaces.map(\.id)
    withState { state in
      state.adopt(plan)
      for namespace in inbox.open(lagging: lagging) { state.fallBehind(namespace) }
      for namespace in lagging { state.fallBehind(namespace) }
    }
    return plan.report
  }

  private func store(_ functions: [FunctionRecord], in namespace: NamespaceID?) async throws {
    guard !functions.isEmpty else { return }
    // Functions belong to no namespace; a store without any is asked under the number that none has.
    var request = CommitRequest(namespace: namespace ?? NamespaceID(rawValue: 0), actor: .system("triggers"))
    request.triggers.functions = functions
    try await commit(request)
  }

  private func store(_ moves: [StartPlan.Move], in namespace: NamespaceID) async throws {
    let renamed = moves.filter { $0.old.function != $0.new.function }
    for move in renamed {
      var request = CommitRequest(namespace: namespace, actor: .system("triggers"))
      request.triggers.deliveries = [move.new]
      request.triggers.settles = (move.old.event, move.old.function)
      try await commit(request)
    }
    let same = moves.filter { $0.old.function == $0.new.function }
    for start in stride(from: 0, to: same.count, by: 256) {
      var request = CommitRequest(namespace: namespace, actor: .system("triggers"))
      request.triggers.deliveries = same[start..<min(start + 256, same.count)].map(\.new)
      try await commit(request)
    }
  }

  /// Finds the runs that the last process died in. They are suspects: each is run again alone, so that the one that kills
  /// the process is known when it dies again. After the third death that an event is to blame for it is a dead letter, and
  /// its function is paused: one event must not keep a whole server from running.
  private func settleCrashes(_ plan: inout StartPlan, at now: Int64) async throws {
    guard let notes else { return }
    for note in notes.read() {
      guard let function = table.position(of: note.function) else { continue }
      if note.isInline { plan.bar(function, for: note.event) }
      let known = plan.namespaces.contains { $0.id == note.namespace }
      let crash = try engine.read { (snapshot) throws(StorageError) in
        known ? try CrashFinding(note, snapshot: snapshot) : nil
      }
      guard let crash else { continue }
      if crash.isBlamed {
        plan.report.crashed.append("\(note.function) \(note.event)")
      } else {
        plan.report.suspects.append("\(note.function) \(note.event)")
      }
      let isFatal = crash.isBlamed && crash.crashes >= options.crashesMax
      if !isFatal { plan.suspects.insert(ReplayItem(event: note.event, function: note.function)) }
      var request = CommitRequest(namespace: note.namespace, actor: .system("triggers"))
      request.triggers.deliveries = [crash.record(isDead: isFatal, at: now)]
      if let attempt = crash.attempt(settings: table.settings[function], at: now) {
        var upkeep = Maintenance()
        upkeep.failedAttempt = attempt
        request.rows.maintenance = upkeep
      }
      if isFatal {
        plan.pause(
          function,
          because: "paused by the engine: its run for \(note.event) killed the process \(crash.crashes) times; "
            + "correct the function, deploy, and resume it", at: now)
        request.triggers.functions = [plan.record(of: function, at: now)]
      }
      try await commit(request)
    }
    notes.clearAll()
  }
}

extension Dispatcher {
  /// How many events are read at once.
  private static let pageSize = 512

  /// Reads a namespace's events from storage, from the settled revision on, until it has caught up with the writer or
  /// holds enough. Runs on a runner.
  func load(_ namespace: NamespaceID) {
    do throws(StorageError) {
      while true {
        guard try loadPage(namespace) == Self.pageSize else { break }
        let isFull = withState { $0.queue.count >= options.eventsLow }
        if isFull { return finishLoading(namespace, isComplete: false) }
      }
      // From here on the inbox keeps what is committed. What was committed before is in storage: read once more.
      withState { $0.namespaces[namespace]?.isLagging = false }
      inbox.follow(namespace)
      while try loadPage(namespace) == Self.pageSize {}
      finishLoading(namespace, isComplete: true)
    } catch {
      logger.error("The events of namespace \(namespace.rawValue) cannot be read: \(error)")
      withState { state in state.loadLater(namespace, at: clock.now()) }
    }
  }

  private func finishLoading(_ namespace: NamespaceID, isComplete: Bool) {
    let now = clock.now()
    withState { $0.finishLoading(namespace, isComplete: isComplete, at: now) }
  }

  /// - Returns: how many events were read.
  private func loadPage(_ namespace: NamespaceID) throws(StorageError) -> Int {
    guard let position = withState({ $0.namespaces[namespace]?.tracker.absorbed }) else { return 0 }
    let page = try engine.read { (snapshot) throws(StorageError) in
      try LoadedEvent.page(of: namespace, after: position, limit: Self.pageSize, from: snapshot)
    }
    let now = clock.now()
    withState { state in
      for event in page { state.absorb(event, at: now) }
      state.noteAbsorbed(namespace)
    }
    return page.count
  }
}

extension DispatchState {
  /// Takes in an event from storage, for the functions that have not handled it.
  mutating func absorb(_ event: LoadedEvent, at now: Int64) {
    let wanting = wanting(event.facts.record, change: event.change).filter { function in
      let definition = table.definitions[function]
      return !event.known.contains(definition.name) && event.known.isDisjoint(with: definition.options.formerly)
    }
    absorb(event.facts, wanting: wanting, parent: event.parent, at: now)
    // What ran on the writer was found as done.
    if !inline.isEmpty { noteFound(event) }
    var unknown: [DeliveryRecord] = []
    for function in missing where function.wanted(event.facts.record, at: event.facts.path) {
      guard !event.known.contains(function.record.name), event.facts.record.hop <= options.limits.hopsMax else { continue }
      unknown.append(.unknownFunction(function.record.name, event: event.facts.record, at: now))
    }
    if !unknown.isEmpty { actions.submissions.append(letters(unknown, in: event.facts.namespace)) }
  }

  func letters(_ records: [DeliveryRecord], in namespace: NamespaceID) -> WriterRequest {
    var request = request(in: namespace)
    request.triggers.deliveries = records
    return WriterRequest(request: request, purpose: .letters(records, namespace))
  }

  /// Storage could not be read: tries again in a second.
  mutating func loadLater(_ namespace: NamespaceID, at now: Int64) {
    namespaces[namespace]?.isLoading = false
    namespaces[namespace]?.isLagging = true
    timers.add(.load(namespace), at: now + 1000)
    wake(by: now + 1000)
  }
}

extension DeliveryRecord {
  /// A dead letter for a function that nobody registered any more.
  static func unknownFunction(_ name: String, event: EventRecord, at now: Int64) -> DeliveryRecord {
    DeliveryRecord(
      event: event.id, kind: event.kind, hop: event.hop, function: name, state: .dead, attempts: 0, crashes: 0,
      nextAttemptAt: 0,
      lastError: "unknown_function: \(name) is not registered any more. Register it, or name it in `formerly` of the function "
        + "that took its place.", updatedAt: now)
  }
}
