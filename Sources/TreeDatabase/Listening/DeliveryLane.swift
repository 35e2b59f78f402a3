/// The thread of control on which a sink lives: an event loop.
///
/// What the hub has for all sinks of a lane is handed over in one piece, so that a commit costs one hop for each lane and
/// not one for each listener.
public protocol DeliveryLane: Sendable {
  /// Equal for values that stand for the same lane; the object must live as long as the lane does.
  var identity: ObjectIdentifier { get }
  /// Runs work on the lane, in the order of the calls, one after the other. Called from any thread.
  func execute(_ work: @escaping @Sendable () -> Void)
}
