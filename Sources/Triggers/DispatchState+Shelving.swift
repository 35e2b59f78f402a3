import StorageCore
import TreeModel

/// Memory holds only some of what stands behind a failing event of its key. The rest has delivery records and lies *on the
/// shelf*: the lane is cut, and refilled from storage when it has run dry.
extension DispatchState {
  /// Whether what comes for the lane has to go to the shelf.
  func isFull(_ lane: LaneKey?) -> Bool {
    lanes.isCut(lane) || lanes.isDry(lane) || (lanes.isHeld(lane) && lanes.behindCount(lane) >= options.behindMax)
  }

  /// Puts deliveries of one lane on the shelf: they come to rest when their records are durable. The lane is cut from then
  /// on.
  mutating func shelve(_ deliveries: [Delivery], of lane: LaneKey, at now: Int64) {
    lanes.cut(lane)
    for start in stride(from: 0, to: deliveries.count, by: 256) {
      let chunk = Array(deliveries[start..<min(start + 256, deliveries.count)])
      shelving[lane, default: 0] += 1
      aftermath.submissions.append(waiting(.shelve(chunk), at: now))
    }
  }

  /// The records are durable.
  mutating func shelved(_ deliveries: [Delivery]) {
    for var delivery in deliveries {
      settle(&delivery)
      end(delivery)
    }
    guard let lane = deliveries.first?.lane, let count = shelving[lane] else { return }
    shelving[lane] = count > 1 ? count - 1 : nil
    if count == 1, lanes.isDry(lane) { refills.append(lane) }
  }

  /// Has the lanes refilled that have run dry; those whose records are still on their way wait for them.
  mutating func collectDryLanes() {
    for lane in lanes.takeDry() where shelving[lane] == nil { refills.append(lane) }
  }

  /// Takes in what lay on the shelf.
  ///
  /// - Parameter isAll: whether storage had no more.
  mutating func refill(_ lane: LaneKey, _ records: [DeliveryRecord], isAll: Bool) {
    // Also while what was kept for it is read: nobody else would fill the lane.
    guard lanes.isDry(lane), functions[lane.function].phase != .paused else { return }
    let deliveries = records.compactMap { delivery($0, in: lane.namespace) }
    for delivery in deliveries { begin(delivery) }
    lanes.refill(lane, deliveries, isAll: isAll)
  }
}
