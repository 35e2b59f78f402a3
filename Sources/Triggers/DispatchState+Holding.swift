import FunctionsKit
import StorageCore

/// What stands in a lane behind a delivery that waits for a retry waits too: it gets a delivery record of its own, so that
/// one failing key neither holds back the settled revision nor keeps a drain waiting.
extension DispatchState {
  /// Adds a delivery that counts as active to its lane.
  mutating func queue(_ delivery: Delivery) {
    if let lane = delivery.lane, isFull(lane) {
      return shelve([delivery], of: lane, at: delivery.facts.commit?.time ?? 0)
    }
    guard lanes.isHeld(delivery.lane) else { return lanes.add(delivery, to: delivery.lane) }
    var delivery = delivery
    end(delivery)
    if delivery.isUnsettled { put([delivery], at: delivery.facts.commit?.time ?? 0) }
    delivery.isStored = true
    delivery.isUnsettled = false
    lanes.add(delivery, to: delivery.lane)
  }

  /// The head of a lane waits for a retry from now on.
  mutating func hold(_ lane: LaneKey?, at now: Int64) {
    var unsettled: [Delivery] = []
    var all: [Delivery] = []
    let excess = lanes.trim(lane, to: options.behindMax)
    if let lane, !excess.isEmpty { shelve(excess, of: lane, at: now) }
    lanes.hold(lane, true)
    lanes.updateBehind(lane) { delivery in
      all.append(delivery)
      if delivery.isUnsettled { unsettled.append(delivery) }
      // The record is on its way, before anything that the delivery could send later; removing one that the writer had
      // no room for does no harm.
      delivery.isStored = true
      delivery.isUnsettled = false
    }
    for delivery in all { end(delivery) }
    put(unsettled, at: now)
  }

  /// The head of a lane is tried again: what stands behind it may run soon.
  mutating func free(_ lane: LaneKey?) {
    guard lanes.isHeld(lane) else { return }
    var all: [Delivery] = []
    lanes.hold(lane, false)
    lanes.updateBehind(lane) { all.append($0) }
    for delivery in all { begin(delivery) }
  }

  private mutating func put(_ deliveries: [Delivery], at now: Int64) {
    for start in stride(from: 0, to: deliveries.count, by: 256) {
      let chunk = Array(deliveries[start..<min(start + 256, deliveries.count)])
      aftermath.submissions.append(waiting(.wait(chunk), at: now))
    }
  }

  /// The writer had no room for the records: what is still in its lane holds back the settled revision again. The records
  /// are not sent a second time: they could arrive after the end of what they speak of.
  mutating func unsettle(_ deliveries: [Delivery]) {
    let events = Set(deliveries.map(\.event))
    for lane in Set(deliveries.compactMap(\.lane)) {
      lanes.updateBehind(lane) { if events.contains($0.event) { $0.isUnsettled = true } }
    }
  }

  /// The records of deliveries that wait for the head of their lane.
  func waiting(_ purpose: Submission.Purpose, at now: Int64) -> Submission {
    let deliveries: [Delivery]
    switch purpose {
    case .wait(let waiting), .shelve(let waiting): deliveries = waiting
    default: preconditionFailure("Only waiting deliveries are recorded as such.")
    }
    guard let first = deliveries.first else { preconditionFailure("There is always one that waits.") }
    var request = request(in: first.namespace)
    request.deliveries = deliveries.map { delivery in
      delivery.record(
        .waiting, function: functions[delivery.function].name, nextAttemptAt: now,
        lastError: "waits for an earlier event of its key, which is tried again first", at: now)
    }
    return Submission(request: request, purpose: purpose)
  }
}
