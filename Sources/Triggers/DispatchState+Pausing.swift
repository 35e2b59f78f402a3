import Logging
import StorageCore

extension DispatchState {
  /// Stops the runs of a function: what waits for it gets a record and is put by.
  ///
  /// - Parameter namespace: where the function's record is to be sent; nil if the caller stores it.
  mutating func pause(
    _ function: Int, because reason: String, byEngine: Bool, in namespace: NamespaceID?, at now: Int64
  ) {
    functions[function].phase = .paused
    functions[function].stopLooking()
    releaseResume(function, isDone: false)
    functions[function].pauseReason = reason
    functions[function].isPausedByEngine = byEngine
    if byEngine { aftermath.remarks.append((.error, "\(functions[function].name) is \(reason).")) }
    putBy(function)
    guard let namespace else { return }
    var request = request(in: namespace)
    request.functions = [FunctionRecord(table.definitions[function], functions[function], at: now)]
    aftermath.submissions.append(Submission(request: request, purpose: .note))
  }

  /// Takes what waits for a function out of memory.
  mutating func putBy(_ function: Int) {
    for (delivery, wasHeld) in lanes.removeAll(of: function, where: { $0.function == function }, lane: \.lane) {
      if wasHeld { begin(delivery) }
      park(delivery)
    }
    for delivery in quarantine.remove(where: { $0.function == function }) {
      lanes.finish(delivery.lane)
      park(delivery)
    }
    let waiting = timers.remove { $0.delivery?.function == function }
    for case let timed in waiting {
      guard let delivery = timed.delivery else { continue }
      if case .retry = timed { begin(delivery) }
      lanes.finish(delivery.lane)
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
    case .resend, .load, .refill, .flush: nil
    }
  }
}
