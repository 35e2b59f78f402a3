package import StorageCore

/// A registered function as the dispatcher knows it.
struct FunctionState {
  enum Phase: Sendable {
    case active
    case paused
    /// Deliveries kept while it was paused are being loaded; newer ones wait behind them.
    case resuming
  }

  let name: String
  /// Its first revision in each namespace.
  var since: [NamespaceID: Revision] = [:]
  var phase = Phase.active
  var pauseReason: String?
  /// Whether the engine paused it, not a person.
  var isPausedByEngine = false
  /// Whether its last attempt failed: the log says when that begins, not each time.
  var isFailing = false
  /// Runs that were abandoned since the start, or since it was resumed.
  var abandoned = 0
  /// Deliveries on their way to a paused record.
  var parking = 0
  /// Who waits until none is.
  var parkingWaiters: [CheckedContinuation<Void, Never>] = []
  /// What came while it was resuming.
  var held: [Delivery] = []
  /// How far the kept deliveries have been read, while it is resuming.
  var kept: KeptDeliveries?
  /// Whether what was kept is as good as read: what comes now is held in memory.
  var isCatchingUp = false
  /// Whether everything that was on its way to storage is there, and was looked at.
  var isFinalLook = false
  /// Records that the full queue of the writer refused, and that are sent again while it is resuming.
  var lateParks = 0
  /// What got its record while a page was read, which may not have seen it.
  var storedMeanwhile: [Delivery] = []
  /// Whether a page is being read, or is to be.
  var isLooking = false
  /// Who waits until it runs again.
  var resumeWaiters: [CheckedContinuation<Bool, Never>] = []
  var counts = FunctionCounts()
  /// How long its runs take.
  var pace: FunctionPace
  /// How long all its runs took.
  var time = FunctionTime()

  init(name: String, pace: FunctionPace) {
    self.name = name
    self.pace = pace
  }

  /// Ends the look at what was kept, or prepares a new one.
  mutating func stopLooking() {
    kept = nil
    isCatchingUp = false
    isFinalLook = false
    isLooking = false
    storedMeanwhile = []
  }

  func isNew(for event: EventRecord) -> Bool {
    since[event.namespace].map { event.id.revision <= $0 } ?? false
  }
}

/// A registered function, for people to look at.
package struct FunctionStatus: Sendable, Hashable {
  /// What it is registered as.
  package let name: String
  /// The pattern in its shortest spelling, such as `/users/{uid}/level`.
  package let pattern: String
  /// `onCreate`, `onUpdate`, `onDelete` or `onWrite`.
  package let trigger: String
  /// What it wants to see, in words: `any change`, `rising to 5`.
  package let filter: String
  /// Its settings with the configuration's overrides, as JSON; nil if it has none.
  package let settings: String?
  /// Whether its events wait until a person resumes it.
  package let isPaused: Bool
  /// Why it is paused; nil if it is not.
  package let pauseReason: String?
  /// What it did since the process started.
  package let counts: FunctionCounts
  /// Whether it runs on the writer now.
  package let isInline: Bool
  /// The mean time of its last runs, in nanoseconds; nil before the first.
  package let meanTime: Int64?
  /// How long all its runs took, since the process started.
  package let time: FunctionTime
}

/// How many runs of a function were measured, and how long they took together.
///
/// Added up where a run's time is at hand anyway, under the lock that is held there.
package struct FunctionTime: Sendable, Hashable {
  /// Runs that were measured: on threads and on the writer, whatever became of them.
  package private(set) var runs = 0
  /// All of them together, in nanoseconds.
  package private(set) var nanoseconds: Int64 = 0
  /// The longest of them, in nanoseconds.
  package private(set) var slowest: Int64 = 0

  /// How many took how long: four parts of each doubling.
  private var parts: [UInt32] = []

  mutating func add(_ nanoseconds: Int64) {
    runs += 1
    self.nanoseconds &+= nanoseconds
    slowest = max(slowest, nanoseconds)
    if parts.isEmpty { parts = [UInt32](repeating: 0, count: 4 * 62) }
    parts[Self.part(of: nanoseconds)] &+= 1
  }

  /// How long this share of the runs took at most, in nanoseconds: up to a quarter more than was measured; nil before the first.
  package func longest(ofShare share: Double) -> Int64? {
    guard runs > 0 else { return nil }
    var rest = Int((Double(runs) * share).rounded(.up))
    for (part, count) in parts.enumerated() {
      rest -= Int(count)
      if rest <= 0 { return min(Self.end(ofPart: part), slowest) }
    }
    return slowest
  }

  /// How many runs took at most how long, in nanoseconds, and longer than the next shorter one here.
  package var spans: [Int64: Int] {
    var spans: [Int64: Int] = [:]
    for (part, count) in parts.enumerated() where count > 0 { spans[Self.end(ofPart: part)] = Int(count) }
    return spans
  }

  private static func part(of nanoseconds: Int64) -> Int {
    let value = max(1, nanoseconds)
    let doublings = Int64.bitWidth - 1 - value.leadingZeroBitCount
    return doublings < 2 ? Int(value) : 4 * (doublings - 1) + Int(value >> Int64(doublings - 2) & 3)
  }

  /// The largest number of a part.
  private static func end(ofPart part: Int) -> Int64 {
    part < 4 ? Int64(part) : Int64(4 + part % 4 + 1) << Int64(part / 4 - 1) &- 1
  }
}

/// What became of a function's runs since the process started.
package struct FunctionCounts: Sendable, Hashable {
  /// Runs that ended as done, with or without an effect.
  package var done = 0
  /// Of these and of the skipped ones, runs on the writer.
  package var inline = 0
  /// Runs that ended as skipped, whatever the reason.
  package var skipped = 0
  /// Runs whose event was handled before: nothing was done.
  package var alreadyDone = 0
  /// Attempts that failed, timeouts included.
  package var failed = 0
  /// Attempts that did not come back within the deadline and were abandoned.
  package var timedOut = 0
  /// Events that became dead letters.
  package var dead = 0

  package init() {}
}

/// One namespace as the dispatcher knows it.
struct NamespaceState {
  var tracker: SettlementTracker
  /// Whether its events are to be loaded from storage.
  var isLagging = false
  /// Whether a runner is loading them.
  var isLoading = false
  /// What the writer committed while they were loaded.
  var held: [CommittedEvents] = []
  /// The last settled revision that was sent to storage.
  var sentWatermark: Revision
  /// Who waits until it does not lag any more.
  var followers: [Int] = []
  /// Waiters for everything up to a revision; they watch what is loaded meanwhile, too.
  var drains: [(waiter: Int, through: Revision)] = []

  init(settled: Revision) {
    tracker = SettlementTracker(settled: settled)
    sentWatermark = settled
  }

  var watermark: Revision { tracker.watermark(isLagging: isLagging || isLoading) }

  /// The first commit whose events are not all handled or on record: of those that were taken in or, where the rest is still to
  /// be read from storage, the next one.
  var oldestUnsettled: Revision? { tracker.oldestUnsettled ?? (isLagging || isLoading ? watermark.next : nil) }
}

/// What waits for functions at one moment.
package struct EventBacklog: Sendable, Hashable {
  /// A commit.
  package struct Place: Sendable, Hashable {
    package let namespace: NamespaceID
    package let revision: Revision

    package init(namespace: NamespaceID, revision: Revision) {
      self.namespace = namespace
      self.revision = revision
    }
  }

  /// Events that wait for a thread only.
  package let ready: Int
  /// Events that wait for an earlier one of their order key.
  package let behind: Int
  /// Of these, how many wait for a retry of that one.
  package let held: Int
  /// Runs that are under way.
  package let running: Int
  /// Threads that run functions.
  package let threads: Int
  /// Namespaces whose events are still to be read from storage.
  package let lagging: Int
  /// Of each namespace the first commit whose events are not all handled or on record; none where all are.
  package let oldest: [Place]
}
