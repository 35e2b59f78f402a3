import StorageCore

/// A registered function as the dispatcher knows it.
struct FunctionState {
  enum Phase: Sendable {
    case active
    case paused
    /// What was put by while it was paused is being loaded; what comes meanwhile stands behind it.
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
  /// Where the look at what was kept stands, while it is resuming.
  var kept: KeptDeliveries?
  /// Whether what was kept is as good as read: what comes now is held in memory.
  var isCatchingUp = false
  /// Whether everything that was on its way to storage is there, and was looked at.
  var isFinalLook = false
  /// Records for which the writer had no room, and which are sent again while it is resuming.
  var lateParks = 0
  /// What got its record while a page was read, which may not have seen it.
  var storedMeanwhile: [Delivery] = []
  /// Whether a page is being read, or is to be.
  var isLooking = false
  /// Who waits until it runs again.
  var resumeWaiters: [CheckedContinuation<Bool, Never>] = []
  var counts = FunctionCounts()

  init(name: String) {
    self.name = name
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
