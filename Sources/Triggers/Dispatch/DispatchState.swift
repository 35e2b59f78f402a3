import FunctionsKit
import StorageCore
import Synchronization

/// Everything that the dispatcher knows, as a value: methods change it and leave in ``actions`` what is to be done
/// outside of the lock.
struct DispatchState {
  enum Timed: Sendable {
    /// A failed delivery is tried again.
    case retry(Delivery)
    /// A run that the full queue of the writer refused is repeated.
    case repetition(Delivery)
    /// Bookkeeping that the writer refused is sent again.
    case resend(WriterRequest)
    /// Events that could not be read from storage are read again.
    case load(NamespaceID)
    /// What was spilled of a key could not be read, and is read again.
    case refill(OrderingKey)
    /// Records of skipped runs have waited long enough.
    case flush
    /// A run on the writer is looked for that never ends.
    case watch
  }

  enum Work: Sendable {
    case run(Run)
    case load(NamespaceID)
    /// Reads what was spilled of a key.
    case refill(OrderingKey)
    /// Reads what was kept while a function was paused.
    case resume(Int, KeptDeliveries)
    case stop
  }

  struct Waiter: Sendable {
    var remaining = 0
    var continuation: CheckedContinuation<Bool, Never>?
    var isOver = false
  }

  let table: TriggerTable
  let options: DispatcherOptions
  var random: any RandomNumberGenerator & Sendable
  var functions: [FunctionState]
  var namespaces: [NamespaceID: NamespaceState] = [:]
  var queue = KeyedQueue<Delivery>()
  /// What the last process may have died of. Until it is empty nothing else runs, and of these one at a time: if the
  /// process dies again, it is known by which.
  var quarantine = Queue<Delivery>()
  /// The run that is alone.
  var aloneRun: Int?
  var timers = TimerQueue<Timed>()
  var active: [Int: Run] = [:]
  var lastRunID = 0
  var lastWaiterID = 0
  var waiters: [Int: Waiter] = [:]
  /// Whether the inbox was told that there are some.
  var isAwaited = false
  /// Namespaces to load from storage, in the order in which they fell behind.
  var loads = Queue<NamespaceID>()
  /// Keys whose backlog is in storage, and functions that are being resumed: work for a runner.
  var refills = Queue<OrderingKey>()
  var resumes = Queue<Int>()
  /// How many records of spilled deliveries are on their way to storage, by key.
  var spilling: [OrderingKey: Int] = [:]
  /// Skipped runs whose records wait for company.
  var skips: [WriterRequest] = []
  /// Deliveries of paused functions that need a record.
  var parks: [NamespaceID: [Delivery]] = [:]
  var freeNoteSlots: [Int] = []
  /// What runs on the writer, and what must not.
  var inline = InlineTable()
  /// Whether functions run: from the beginning of the service to its end.
  var isServing = false
  /// Functions that storage knows and nobody registered.
  var missing: [MissingFunction] = []
  /// The time that the timer task sleeps to; nil while it sleeps for ever.
  var wakeTime: Int64?
  var isStopping = false
  /// Runners that are not left behind, and who waits until none is.
  var runnerCount = 0
  var stopWaiter: CheckedContinuation<Void, Never>?
  var actions = CommitActions()
  let notes: CrashNotes?

  init(
    table: TriggerTable, options: DispatcherOptions, notes: CrashNotes?, random: any RandomNumberGenerator & Sendable
  ) {
    self.table = table
    self.options = options
    self.notes = notes
    self.random = random
    functions = table.definitions.map {
      FunctionState(name: $0.name, pace: FunctionPace(options.inline, mode: $0.options.inline))
    }
    freeNoteSlots = notes.map { Array((0..<$0.inlineSlot).reversed()) } ?? []
  }

  /// The next work of a runner; nil if there is none.
  mutating func nextWork(for runner: Runner, at now: Int64) -> Work? {
    if isStopping { return .stop }
    while queue.count < options.eventsLow, let namespace = loads.popFirst() {
      guard let state = namespaces[namespace], state.isLagging, !state.isLoading else { continue }
      namespaces[namespace]?.isLoading = true
      return .load(namespace)
    }
    if let work = nextMaintenance() { return work }
    guard canRun else { return nil }
    let isAlone = !quarantine.isEmpty
    guard var delivery = quarantine.popFirst() ?? queue.next() else { return nil }
    delivery.noteSlot = freeNoteSlots.popLast()
    lastRunID += 1
    let deadline = now + table.definitions[delivery.function].options.deadline.wholeMilliseconds
    let run = Run(
      id: lastRunID, delivery: delivery, startedAt: now, deadline: deadline, runner: runner, isAlone: isAlone)
    if isAlone { aloneRun = run.id }
    active[run.id] = run
    wake(by: deadline)
    return .run(run)
  }

  /// Sees to it that the timer task wakes at `time`, or before.
  mutating func wake(by time: Int64) {
    guard wakeTime.map({ time < $0 }) ?? true else { return }
    wakeTime = time
    actions.startsTimer = true
  }

  /// A request for the dispatcher's own bookkeeping.
  func request(in namespace: NamespaceID) -> CommitRequest {
    CommitRequest(namespace: namespace, actor: .system("triggers"))
  }

  /// Takes what was left to be done, with the records that ride along.
  mutating func takeActions(at now: Int64) -> CommitActions {
    collectDrainedKeys()
    collectParks(at: now)
    collectSkips(at: now)
    var taken = actions
    actions = CommitActions()
    for index in taken.submissions.indices { addWatermark(to: &taken.submissions[index].request) }
    taken.wakesRunner = hasWork
    return taken
  }

  /// Skipped runs cost no commit of their own: their records go out before anything else that is sent, when many wait,
  /// when somebody waits for them, or after a while.
  private mutating func collectSkips(at now: Int64) {
    guard !skips.isEmpty else { return }
    if !actions.submissions.isEmpty || !waiters.isEmpty || skips.count >= options.skipsMax || isStopping {
      // Before the others: an effect behind a skipped run of its key must not overtake that run's record.
      actions.submissions.insert(contentsOf: skips, at: 0)
      skips = []
    }
  }

  private mutating func addWatermark(to request: inout CommitRequest) {
    guard let namespace = namespaces[request.namespace], namespace.watermark > namespace.sentWatermark else { return }
    request.triggers.settledRevision = namespace.watermark
    namespaces[request.namespace]?.sentWatermark = namespace.watermark
  }
}

extension Duration {
  /// The duration in milliseconds, rounded down; what does not fit is the largest number of them.
  var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflows) = seconds.multipliedReportingOverflow(by: 1000)
    // Far enough away, and small enough to be added to a time.
    return overflows ? .max / 4 : min(product + attoseconds / 1_000_000_000_000_000, .max / 4)
  }
}

extension DispatchState {
  /// Does what is due.
  ///
  /// - Returns: runs that are over their deadline; they count no more.
  mutating func fire(at now: Int64) -> [Run] {
    while let due = timers.popDue(at: now) {
      switch due {
      case .retry(let delivery):
        begin(delivery)
        free(delivery.orderingKey)
        requeue(delivery)
      case .repetition(let delivery): requeue(delivery)
      case .resend(let submission): actions.submissions.append(submission)
      case .load(let namespace): loads.append(namespace)
      case .refill(let orderingKey): refills.append(orderingKey)
      case .flush:
        actions.submissions.append(contentsOf: skips)
        skips = []
      case .watch: inline.watch = .due
      }
    }
    let overdue = active.values.filter { $0.deadline <= now }
    for run in overdue { timeOut(run, at: now) }
    wakeTime = nextTime
    return overdue
  }

  /// When the next thing is due.
  private var nextTime: Int64? {
    let deadline = active.values.lazy.map(\.deadline).min()
    guard let timer = timers.earliest else { return deadline }
    return min(timer, deadline ?? timer)
  }

  /// Makes the head of a key ready again, unless its function is paused meanwhile.
  mutating func requeue(_ delivery: Delivery) {
    guard functions[delivery.function].phase == .paused else { return queue.requeue(delivery) }
    park(delivery)
    queue.finish(delivery.orderingKey)
  }

  private mutating func timeOut(_ run: Run, at now: Int64) {
    active[run.id] = nil
    endAlone(run)
    run.runner.leaveBehind()
    runnerCount -= 1
    var delivery = run.delivery
    // The note stays as long as the thread is out: it may still kill the process.
    delivery.noteSlot = nil
    let function = delivery.function
    functions[function].counts.timedOut += 1
    functions[function].abandoned += 1
    let deadline = table.definitions[function].options.deadline
    if functions[function].abandoned >= options.abandonedMax, functions[function].phase != .paused {
      pause(
        function,
        because: "paused by the engine: \(functions[function].abandoned) runs did not come back within \(deadline); "
          + "correct the function, deploy, and resume it", byEngine: true, in: delivery.namespace, at: now)
    }
    fail(
      delivery, error: "timeout: the run did not come back within \(deadline)", failure: .retry, startedAt: run.startedAt,
      at: now)
  }
}

extension DispatchState {
  /// The delivery counts for waiters from now on.
  mutating func begin(_ delivery: Delivery) {
    namespaces[delivery.namespace]?.tracker.begin(delivery.facts.revision, root: delivery.root)
  }

  /// The delivery has come to rest: it is finished, or waits for a time or a person.
  mutating func end(_ delivery: Delivery) {
    let quiet = namespaces[delivery.namespace]?.tracker.end(delivery.facts.revision, root: delivery.root) ?? []
    for waiter in quiet { release(waiter) }
  }

  /// The delivery has a durable end, or a delivery record.
  mutating func settle(_ delivery: inout Delivery) {
    guard delivery.isUnsettled else { return }
    delivery.isUnsettled = false
    namespaces[delivery.namespace]?.tracker.settle(delivery.facts.revision)
  }

  mutating func addWaiter() -> Int {
    lastWaiterID += 1
    waiters[lastWaiterID] = Waiter()
    return lastWaiterID
  }

  /// One of the things that a waiter waits for has happened.
  mutating func release(_ id: Int) {
    guard waiters[id] != nil else { return }
    waiters[id]?.remaining -= 1
    if waiters[id]?.remaining == 0, waiters[id]?.continuation != nil { finishWaiter(id, isReady: true) }
  }

  /// Ends a wait.
  mutating func finishWaiter(_ id: Int, isReady: Bool) {
    for namespace in namespaces.keys { namespaces[namespace]?.drains.removeAll { $0.waiter == id } }
    guard let continuation = waiters[id]?.continuation.take() else {
      waiters[id]?.isOver = true
      return
    }
    waiters[id] = nil
    actions.released.append((continuation, isReady))
  }

  /// Keeps the continuation of a waiter, unless there is nothing to wait for (any more).
  ///
  /// - Returns: whether everything has happened already; nil if the continuation is kept.
  mutating func suspend(_ id: Int, continuation: CheckedContinuation<Bool, Never>) -> Bool? {
    guard let waiter = waiters[id], !waiter.isOver else {
      waiters[id] = nil
      return false
    }
    guard waiter.remaining > 0 else {
      finishWaiter(id, isReady: true)
      waiters[id] = nil
      return true
    }
    waiters[id]?.continuation = continuation
    return nil
  }

  /// Waits for a root, if it is active.
  mutating func watch(_ root: Revision, in namespace: NamespaceID, for id: Int) {
    if namespaces[namespace]?.tracker.watch(root, for: id) == true { waiters[id]?.remaining += 1 }
  }

  /// Waits for everything in a namespace up to its last event.
  ///
  /// - `isTold`: whether the inbox has had everything up to there. Then an event that was not taken in will not come:
  ///   a replay found it in the log of an older commit.
  mutating func drain(_ namespace: NamespaceID, through last: EventID?, isTold: Bool, for id: Int) {
    guard let state = namespaces[namespace] else { return }
    if let last, !state.tracker.hasAbsorbed(last) {
      namespaces[namespace]?.drains.append((id, last.revision))
      if state.isLagging || state.isLoading {
        namespaces[namespace]?.followers.append(id)
        waiters[id]?.remaining += 1
      } else if !isTold {
        namespaces[namespace]?.tracker.expect(last.revision, root: last.revision)
      }
    }
    for root in namespaces[namespace]?.tracker.activeRoots ?? [] { watch(root, in: namespace, for: id) }
  }

  /// Lets waiters for everything up to a revision see what has come in since they began.
  mutating func watchNewRoot(_ root: Revision, in namespace: NamespaceID) {
    guard let drains = namespaces[namespace]?.drains, !drains.isEmpty else { return }
    for drain in drains where root <= drain.through { watch(root, in: namespace, for: drain.waiter) }
  }
}

extension DispatchState {
  /// Whether a runner has something to do.
  var hasWork: Bool {
    isStopping || (canRun && (queue.readyCount > 0 || !quarantine.isEmpty))
      || (queue.count < options.eventsLow && (!loads.isEmpty || !refills.isEmpty || !resumes.isEmpty))
  }

  /// Ends all work.
  ///
  /// - Returns: the runs under way, which count no more, and requests that store how far the namespaces are settled.
  mutating func stop() -> ([Run], [CommitRequest]) {
    isStopping = true
    isServing = false
    let running = Array(active.values)
    active = [:]
    aloneRun = nil
    var requests: [CommitRequest] = []
    for (id, namespace) in namespaces where namespace.watermark > namespace.sentWatermark {
      var request = request(in: id)
      request.triggers.settledRevision = namespace.watermark
      requests.append(request)
    }
    for function in functions.indices { releaseResume(function, isDone: false) }
    for id in Array(waiters.keys) { finishWaiter(id, isReady: false) }
    return (running, requests)
  }

  /// A runner has ended.
  mutating func endRunner() {
    runnerCount -= 1
    if runnerCount == 0 { actions.stopped = stopWaiter.take() }
  }

  /// Gives up waiting for runners: a function does not come back.
  mutating func stopWaiting() {
    actions.stopped = stopWaiter.take()
  }

  /// Drops everything of a namespace that does not exist any more.
  mutating func forget(_ namespace: NamespaceID) {
    guard let state = namespaces[namespace] else { return }
    let isIts = { (delivery: Delivery) in delivery.namespace == namespace }
    queue.removeAll(where: isIts, keysWhere: { $0.namespace == namespace })
    _ = quarantine.remove(where: isIts)
    spilling = spilling.filter { $0.key.namespace != namespace }
    _ = timers.remove { $0.delivery.map(isIts) ?? false }
    skips.removeAll { $0.request.namespace == namespace }
    parks[namespace] = nil
    inline.forget(namespace)
    for waiter in state.tracker.watchers + state.followers { release(waiter) }
    for (id, run) in active where isIts(run.delivery) {
      active[id] = nil
      if aloneRun == id { aloneRun = nil }
      run.context.withLock(\.self)?.abandon()
    }
    namespaces[namespace] = nil
  }
}
