import Synchronization

/// The listens of one lane that get the same messages.
///
/// `@unchecked Sendable`: ``members`` is touched on the lane only, ``count`` by the hub's thread only.
final class Audience: @unchecked Sendable {
  let lane: DeliveryQueue
  /// Whether the hub has told the lane to begin anew, and the lane has not yet done so.
  let isRestarting = Atomic<Bool>(false)
  /// The hub's: how many there are, or will be once the lane has caught up.
  var count = 0

  /// The lane's.
  private var members: [Listening] = []

  init(lane: DeliveryQueue) {
    self.lane = lane
  }

  func join(_ listening: Listening) {
    listening.seat = members.count
    members.append(listening)
  }

  func leave(_ listening: Listening) {
    guard let seat = listening.seat else { return }
    let last = members.removeLast()
    if last !== listening {
      members[seat] = last
      last.seat = seat
    }
    listening.seat = nil
  }

  /// Whoever is told may stop, but leaves the audience only with a later item of the lane.
  func forEach(_ body: (Listening) -> Void) {
    for member in members { body(member) }
  }
}
