import StorageCore
import Synchronization
import TreeModel

/// All listens of one place, one window and one format: all of them get the same messages.
///
/// `@unchecked Sendable`: touched by the hub's thread only; readers carry it back, and look at ``isGone`` alone.
final class ListenGroup: @unchecked Sendable {
  let namespace: NamespaceID
  let path: PathBytes
  let query: Query?
  let format: TreeFormat
  /// Nil where the whole node is listened to.
  let window: ListenWindow?
  /// Where it hangs; not to be looked at once ``isGone``.
  unowned let point: ListenPoint

  private(set) var subscribersByQueue: [ObjectIdentifier: QueueSubscribers] = [:]
  /// Listens that want a snapshot.
  var waiting: [LoadJob.Waiter] = []
  /// Whether a snapshot is being read.
  var isReading = false
  private let gone = Atomic(false)
  /// Whether nobody listens here any more. From any thread.
  var isGone: Bool { gone.load(ordering: .relaxed) }

  init(_ request: ListenRequest, at point: ListenPoint, limits: ListenLimits) {
    namespace = request.namespace
    path = point.pathBytes
    query = request.query
    format = request.format
    window = request.query.map { ListenWindow(query: $0, path: point.pathBytes, limits: limits) }
    self.point = point
  }

  func subscribers(on queue: DeliveryQueue) -> QueueSubscribers {
    if let subscribers = subscribersByQueue[ObjectIdentifier(queue)] { return subscribers }
    let subscribers = QueueSubscribers(queue: queue)
    subscribersByQueue[ObjectIdentifier(queue)] = subscribers
    return subscribers
  }

  /// - Returns: the audience that the listen leaves.
  func remove(_ listening: Listening) -> QueueSubscribers? {
    let queue = ObjectIdentifier(listening.listener.queue)
    guard let subscribers = subscribersByQueue[queue] else { return nil }
    subscribers.count -= 1
    if subscribers.count == 0 { subscribersByQueue[queue] = nil }
    if subscribersByQueue.isEmpty { gone.store(true, ordering: .relaxed) }
    return subscribers
  }
}

/// The listens of one executor that get the same messages.
///
/// `@unchecked Sendable`: `members` is touched on the executor only, ``count`` by the hub's thread only.
final class QueueSubscribers: @unchecked Sendable {
  let queue: DeliveryQueue
  /// Whether the hub has told the executor to start again, and the executor has not yet done so.
  let isRestarting = Atomic<Bool>(false)
  /// The hub's: how many there are, or will be once the executor has caught up.
  var count = 0

  /// The executor's.
  private var members: [Listening] = []

  init(queue: DeliveryQueue) {
    self.queue = queue
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

  /// A listener that is told may stop, but leaves the audience only with a later item of the executor.
  func forEach(_ body: (Listening) -> Void) {
    for member in members { body(member) }
  }
}
