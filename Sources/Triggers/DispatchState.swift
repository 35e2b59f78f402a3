import FunctionsKit
import StorageCore

/// Everything that the dispatcher knows, as a value: methods change it and leave in ``aftermath`` what is to be done
/// outside of the lock.
struct DispatchState {
  enum Timed: Sendable {
    /// A failed delivery is tried again.
    case retry(Delivery)
    /// A run that the writer had no room for is repeated.
    case repetition(Delivery)
    /// Bookkeeping that the writer refused is sent again.
    case resend(Submission)
    /// Events that could not be read from storage are read again.
    case load(NamespaceID)
    /// What a lane has on the shelf could not be read, and is read again.
    case refill(LaneKey)
    /// Records of skipped runs have waited long enough.
    case flush
  }

  enum Work: Sendable {
    case run(Run)
    case load(NamespaceID)
    /// Reads what a lane left in storage.
    case refill(LaneKey)
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
  var lanes = LaneQueue<Delivery>()
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
  /// Namespaces to load from storage, in the order in which they fell behind.
  var loads = Queue<NamespaceID>()
  /// Lanes whose rest is in storage, and functions that are being resumed: work for a runner.
  var refills = Queue<LaneKey>()
  var resumes = Queue<Int>()
  /// Records on their way to storage of deliveries that memory has no room for, by lane.
  var shelving: [LaneKey: Int] = [:]
  /// Skipped runs whose records wait for company.
  var skips: [Submission] = []
  /// Deliveries of paused functions that need a record.
  var parks: [NamespaceID: [Delivery]] = [:]
  var freeNoteSlots: [Int] = []
  /// Functions that storage knows and nobody registered.
  var missing: [MissingFunction] = []
  /// The time that the timer task sleeps to; nil while it sleeps for ever.
  var wakeTime: Int64?
  var isStopping = false
  /// Runners that are not left behind, and who waits until none is.
  var runnerCount = 0
  var stopWaiter: CheckedContinuation<Void, Never>?
  var aftermath = Aftermath()
  let notes: CrashNotes?

  init(
    table: TriggerTable, options: DispatcherOptions, notes: CrashNotes?, random: any RandomNumberGenerator & Sendable
  ) {
    self.table = table
    self.options = options
    self.notes = notes
    self.random = random
    functions = table.definitions.map { FunctionState(name: $0.name) }
    freeNoteSlots = notes.map { Array((0..<$0.slotCount).reversed()) } ?? []
  }

  /// The next work of a runner; nil if there is none.
  mutating func nextWork(for runner: Runner, at now: Int64) -> Work? {
    if isStopping { return .stop }
    while lanes.count < options.eventsLow, let namespace = loads.popFirst() {
      guard let state = namespaces[namespace], state.isLagging, !state.isLoading else { continue }
      namespaces[namespace]?.isLoading = true
      return .load(namespace)
    }
    if let work = nextUpkeep() { return work }
    guard canRun else { return nil }
    let isAlone = !quarantine.isEmpty
    guard var delivery = quarantine.popFirst() ?? lanes.next() else { return nil }
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
    aftermath.ringsAlarm = true
  }

  /// A request for the dispatcher's own bookkeeping.
  func request(in namespace: NamespaceID) -> CommitRequest {
    CommitRequest(namespace: namespace, actor: .system("triggers"))
  }

  /// Takes what was left to be done, with the records that ride along.
  mutating func takeAftermath(at now: Int64) -> Aftermath {
    collectDryLanes()
    collectParks(at: now)
    collectSkips(at: now)
    var taken = aftermath
    aftermath = Aftermath()
    for index in taken.submissions.indices { addWatermark(to: &taken.submissions[index].request) }
    taken.wakesRunner = hasWork
    return taken
  }

  /// Skipped runs cost no commit of their own: their records go out before anything else that is sent, when many wait,
  /// when somebody waits for them, or after a while.
  private mutating func collectSkips(at now: Int64) {
    guard !skips.isEmpty else { return }
    if !aftermath.submissions.isEmpty || !waiters.isEmpty || skips.count >= options.skipsMax || isStopping {
      // Before the others: an effect behind a skipped run of its lane must not overtake that run's record.
      aftermath.submissions.insert(contentsOf: skips, at: 0)
      skips = []
    }
  }

  private mutating func addWatermark(to request: inout CommitRequest) {
    guard let namespace = namespaces[request.namespace], namespace.watermark > namespace.sentWatermark else { return }
    request.settledRevision = namespace.watermark
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
