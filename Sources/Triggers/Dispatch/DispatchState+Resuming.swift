import Logging
import StorageCore
import TreeModel

extension DispatchState {
  /// Stops the runs of a function: its waiting deliveries get records and leave memory.
  ///
  /// - `namespace`: where the function's record is to be sent; nil if the caller stores it.
  mutating func pause(
    _ function: Int, because reason: String, byEngine: Bool, in namespace: NamespaceID?, at now: Int64
  ) {
    functions[function].phase = .paused
    functions[function].stopLooking()
    releaseResume(function, isDone: false)
    functions[function].pauseReason = reason
    functions[function].isPausedByEngine = byEngine
    if byEngine { actions.remarks.append((.error, "\(functions[function].name) is \(reason).")) }
    putBy(function)
    guard let namespace else { return }
    var request = request(in: namespace)
    request.triggers.functions = [FunctionRecord(table.definitions[function], functions[function], at: now)]
    actions.submissions.append(WriterRequest(request: request, purpose: .note))
  }

  /// Takes what waits for a function out of memory.
  mutating func putBy(_ function: Int) {
    for (delivery, wasHeld) in queue.removeAll(of: function, where: { $0.function == function }, orderingKey: \.orderingKey) {
      if wasHeld { begin(delivery) }
      park(delivery)
    }
    for delivery in quarantine.remove(where: { $0.function == function }) {
      queue.finish(delivery.orderingKey)
      park(delivery)
    }
    let waiting = timers.remove { $0.delivery?.function == function }
    for case let timed in waiting {
      guard let delivery = timed.delivery else { continue }
      if case .retry = timed { begin(delivery) }
      queue.finish(delivery.orderingKey)
      park(delivery)
    }
    for delivery in functions[function].held { park(delivery) }
    functions[function].held = []
  }
}

extension DispatchState.Timed {
  /// The delivery that waits for its time.
  var delivery: Delivery? {
    switch self {
    case .retry(let delivery), .repetition(let delivery): delivery
    case .resend, .load, .refill, .flush, .watch: nil
    }
  }
}

/// Resuming a function goes page by page, as memory allows, so that it may have kept millions of events.
///
/// What comes meanwhile is kept as while it was paused, and found by a later page. Near the end the function *catches up*:
/// then it is held in memory, for the short time until the last page is in.
extension DispatchState {
  mutating func beginResume(_ function: Int, kept: KeptDeliveries) {
    functions[function].stopLooking()
    functions[function].kept = kept
    look(function)
  }

  private mutating func look(_ function: Int) {
    guard !functions[function].isLooking else { return }
    functions[function].isLooking = true
    resumes.append(function)
  }

  /// Takes in a page.
  mutating func resume(_ function: Int, with page: [(NamespaceID, DeliveryRecord)], next: KeptDeliveries) {
    guard functions[function].phase == .resuming, let kept = functions[function].kept else { return }
    functions[function].isLooking = false
    let stored = functions[function].storedMeanwhile
    functions[function].storedMeanwhile = []
    // The page may hold what came after an event whose record is late: it is read again when that is there.
    let isEarly = functions[function].lateParks > 0
    let position = isEarly ? kept : next
    let found = isEarly ? [] : page.compactMap { delivery($0.1, in: $0.0) }
    let known = Set(found.map(\.event))
    // What was stored behind the page's back is not found by a later one.
    let passed = stored.filter { position.hasPassed($0.event, in: $0.namespace) && !known.contains($0.event) }
    for delivery in (found + passed).sorted(by: { $0.event.precedes($1.event) }) { queueAgain(delivery) }
    if isEarly { return }
    functions[function].kept = next
    guard page.isEmpty else { return look(function) }
    if !functions[function].isCatchingUp {
      functions[function].isCatchingUp = true
      functions[function].isFinalLook = false
    }
    // What is on its way to a record has to be there before the last look; the one that notes its arrival goes on.
    guard functions[function].parking == 0 else { return }
    lookAgain(function)
  }

  private mutating func queueAgain(_ delivery: Delivery) {
    begin(delivery)
    enqueue(delivery)
  }

  /// The record of what came meanwhile is there. Mostly a later page finds it; but records do not always get there in the
  /// order of their events.
  mutating func noteStored(_ delivery: Delivery) {
    let function = delivery.function
    guard functions[function].phase == .resuming, let kept = functions[function].kept else { return }
    if functions[function].isLooking {
      functions[function].storedMeanwhile.append(delivery)
    } else if kept.hasPassed(delivery.event, in: delivery.namespace) {
      queueAgain(delivery)
    }
  }

  /// The writer's queue was full: these records are sent again.
  mutating func noteLate(_ deliveries: [Delivery]) {
    for delivery in deliveries { functions[delivery.function].lateParks += 1 }
  }

  /// They are there now.
  mutating func noteLateParked(_ deliveries: [Delivery]) {
    for function in deliveries.map(\.function) {
      functions[function].lateParks -= 1
      guard functions[function].lateParks == 0, functions[function].phase == .resuming, functions[function].kept != nil
      else { continue }
      functions[function].isFinalLook = false
      look(function)
    }
  }

  /// The last record that was on its way is there.
  mutating func noteParkingOver(_ function: Int) {
    guard functions[function].phase == .resuming, functions[function].isCatchingUp, !functions[function].isLooking else {
      return
    }
    lookAgain(function)
  }

  /// Looks once more at what was stored since the last look, or ends.
  private mutating func lookAgain(_ function: Int) {
    guard functions[function].isFinalLook else {
      functions[function].isFinalLook = true
      return look(function)
    }
    endResume(function, isDone: true)
  }

  /// The function runs again, or is paused as before.
  mutating func endResume(_ function: Int, isDone: Bool) {
    guard functions[function].phase == .resuming else { return }
    functions[function].stopLooking()
    if isDone {
      functions[function].phase = .active
      let held = functions[function].held
      functions[function].held = []
      for delivery in held { enqueue(delivery) }
    } else {
      functions[function].phase = .paused
      putBy(function)
    }
    releaseResume(function, isDone: isDone)
  }

  mutating func releaseResume(_ function: Int, isDone: Bool) {
    actions.released += functions[function].resumeWaiters.map { ($0, isDone) }
    functions[function].resumeWaiters = []
  }
}

/// Goes through what is stored for a function that is being resumed, in the order of the events, page by page.
///
/// Two states are read as one list: what was kept while it was paused, and what had been spilled to storage before, behind a
/// failing event of its key.
struct KeptDeliveries: Sendable {
  let function: String
  let namespaces: [NamespaceID]
  /// Where the look at each namespace goes on.
  private var lasts: [NamespaceID: ReplayItem] = [:]

  init(of function: String, in namespaces: [NamespaceID]) {
    self.function = function
    self.namespaces = namespaces
  }

  /// Whether no later page finds the event.
  func hasPassed(_ event: EventID, in namespace: NamespaceID) -> Bool {
    lasts[namespace].map { !$0.event.precedes(event) } ?? false
  }

  /// The next records; none at the end, and until something newer was stored.
  mutating func page(_ limit: Int, from snapshot: any Snapshot) throws(StorageError) -> [(NamespaceID, DeliveryRecord)] {
    for namespace in namespaces {
      let last = DeliveryRecord(place: lasts[namespace] ?? ReplayItem(event: .first, function: function))
      var found: [DeliveryRecord] = []
      for state in [DeliveryRecord.State.paused, .waiting] {
        found += try snapshot.deliveries(in: namespace, state: state, after: last, limit: limit)
          .filter { $0.function == function }
      }
      found.sort { $0.event.precedes($1.event) }
      guard let end = found.prefix(limit).last else { continue }
      lasts[namespace] = ReplayItem(event: end.event, function: function)
      return found.prefix(limit).map { (namespace, $0) }
    }
    return []
  }
}

extension EventID {
  /// Before every event.
  static let first = EventID(epoch: 0, revision: .zero, path: .root)

  /// Whether it comes before another in the order of events.
  func precedes(_ other: EventID) -> Bool { (epoch, revision, path) < (other.epoch, other.revision, other.path) }
}

extension DeliveryRecord {
  /// A record that only says where a listing goes on: the stored one may be gone.
  init(place: ReplayItem) {
    self.init(
      event: place.event, kind: .updated, hop: 0, function: place.function, state: .dead, attempts: 0, crashes: 0,
      nextAttemptAt: 0, lastError: "", updatedAt: 0)
  }
}
