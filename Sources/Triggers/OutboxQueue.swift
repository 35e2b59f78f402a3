import StorageCore

/// Which messages are to be delivered, and when: the outbox as a value.
///
/// Bounded: when it is full it forgets what is new, notes the namespace as unread, and asks for it again once it has room.
struct OutboxQueue {
  private(set) var ready = Queue<OutboxItem>()
  private var timers = TimerQueue<OutboxItem>()
  /// Keys that are in memory, so that what is read from storage does not come twice.
  private var known: [NamespaceID: Set<String>] = [:]
  private(set) var unread: Set<NamespaceID> = []
  private(set) var running = 0
  /// Whether storage was asked what waits.
  private(set) var isStarted = false
  let capacity: Int
  let concurrency: Int

  init(capacity: Int, concurrency: Int) {
    self.capacity = capacity
    self.concurrency = concurrency
  }

  var count: Int { ready.count + timers.count + running }
  /// When the next message is due; nil if none waits for a time.
  var nextTime: Int64? { timers.earliest }
  /// Whether nothing is left but messages that wait for their time.
  var isResting: Bool { isStarted && ready.isEmpty && running == 0 && unread.isEmpty }

  mutating func add(_ item: OutboxItem, at now: Int64) {
    guard item.record.state == .waiting, known[item.namespace]?.contains(item.record.key) != true else { return }
    guard count < capacity else {
      unread.insert(item.namespace)
      return
    }
    known[item.namespace, default: []].insert(item.record.key)
    if item.record.nextAttemptAt <= now { ready.append(item) } else { timers.add(item, at: item.record.nextAttemptAt) }
  }

  mutating func fire(at now: Int64) {
    while let item = timers.popDue(at: now) { ready.append(item) }
  }

  /// The next message to deliver; nil if there is none, or enough are on their way.
  mutating func start() -> OutboxItem? {
    guard running < concurrency, let item = ready.popFirst() else { return nil }
    running += 1
    return item
  }

  /// A delivery has ended and its record is durable.
  ///
  /// - Parameter next: the record to try again; nil if there is nothing more to do.
  mutating func finish(_ item: OutboxItem, next: OutboxRecord?, at now: Int64) {
    running -= 1
    known[item.namespace]?.remove(item.record.key)
    if known[item.namespace]?.isEmpty == true { known[item.namespace] = nil }
    guard let next else { return }
    // Never refused: the place of this message is its own.
    known[item.namespace, default: []].insert(next.key)
    timers.add(OutboxItem(namespace: item.namespace, record: next), at: next.nextAttemptAt)
  }

  /// Begins, with namespaces to read from storage.
  mutating func start(_ namespaces: [NamespaceID]) {
    isStarted = true
    unread.formUnion(namespaces)
  }

  /// Notes that a namespace has messages in storage that are not here.
  mutating func mark(_ namespace: NamespaceID) { unread.insert(namespace) }

  /// Takes a namespace to read from storage, if there is room.
  mutating func nextUnread() -> NamespaceID? {
    count * 2 <= capacity ? unread.popFirst() : nil
  }
}
