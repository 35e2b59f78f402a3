import StorageCore

/// Resuming a function goes page by page, as far as memory has room, so that it may have kept millions of events.
///
/// What comes meanwhile is kept as while it was paused, and found by a later page. Near the end the function *catches up*:
/// then it is held in memory, for the short time until the last page is in.
extension DispatchState {
  mutating func beginResume(_ function: Int, _ kept: KeptDeliveries) {
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
    // What is on its way to a record has to be there before the last look; whoever notes it there goes on.
    guard functions[function].parking == 0 else { return }
    lookAgain(function)
  }

  private mutating func queueAgain(_ delivery: Delivery) {
    begin(delivery)
    queue(delivery)
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

  /// The writer had no room for these records, which are sent again.
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
      for delivery in held { queue(delivery) }
    } else {
      functions[function].phase = .paused
      putBy(function)
    }
    releaseResume(function, isDone: isDone)
  }

  mutating func releaseResume(_ function: Int, isDone: Bool) {
    aftermath.released += functions[function].resumeWaiters.map { ($0, isDone) }
    functions[function].resumeWaiters = []
  }
}
