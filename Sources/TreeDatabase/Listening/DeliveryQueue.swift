import Synchronization

/// What the hub has for one executor, and how the executor takes it.
///
/// `@unchecked Sendable`: `items` and `itemBytes` belong to the hub's thread, `touched`, `isTurning` and
/// `delivered` to the executor; the two share atomics only, and behind a lock the items that the hub hands over and forgets.
final class DeliveryQueue: @unchecked Sendable {
  enum Item {
    /// Someone comes; `isLate` if the audience is on its way to start again: some of what came behind the join may be left out.
    case join(Listening, QueueSubscribers, isLate: Bool)
    case leave(Listening, QueueSubscribers)
    /// `isLate` if a window kept the commit back until it was filled: what was told of later commits may have gone before.
    case change(ListenMessage, QueueSubscribers, isLate: Bool)
    /// Messages for the audience were left out: its members need snapshots.
    case restart(QueueSubscribers)
    case load(Listening, generation: Int, LoadOutcome)
    case run(Listener, @Sendable () -> Void)
    case review(QueueSubscribers)
    case end(QueueSubscribers, ListenEnd)
  }

  let executor: any DeliveryExecutor
  private let counters: ListenCounters
  private let bytesMax: Int
  /// Bytes of messages that were handed over and not yet delivered.
  private let inFlight = Atomic<Int>(0)
  /// What was handed over and not yet taken.
  private let handed = Mutex<Handed>(Handed())

  private struct Handed {
    var items: [Item] = []
    var bytes = 0
  }

  // The hub's
  private var items: [Item] = []
  private var itemBytes = 0

  // The executor's
  private var touched: [Listener] = []
  private var isTurning = false
  private var delivered = 0

  init(executor: any DeliveryExecutor, counters: ListenCounters, bytesMax: Int) {
    self.executor = executor
    self.counters = counters
    self.bytesMax = bytesMax
  }
}

// MARK: - On the hub's thread

extension DeliveryQueue {
  /// - Returns: whether these are the first since the last ``submit()``.
  func append(_ item: Item) -> Bool {
    items.append(item)
    return items.count == 1
  }

  /// Sends a message to the audience, or has it start again if the executor is too far behind.
  func send(_ message: ListenMessage, to subscribers: QueueSubscribers, isLate: Bool) -> Bool {
    if subscribers.isRestarting.load(ordering: .acquiring) { return false }
    guard inFlight.load(ordering: .relaxed) + itemBytes <= bytesMax else { return restart(subscribers) }
    itemBytes += message.body.count + 64
    return append(.change(message, subscribers, isLate: isLate))
  }

  /// Has the audience start again, unless that is on its way already.
  ///
  /// What is left out meanwhile was durable before, so the snapshot that the executor is going to ask for has it.
  func restart(_ subscribers: QueueSubscribers) -> Bool {
    guard subscribers.isRestarting.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    else { return false }
    return append(.restart(subscribers))
  }

  /// Hands over what was appended. An executor that has not come to what it was handed before takes all of it in one turn: the
  /// busier it is, the more leaves by one flush.
  func submit() {
    guard !items.isEmpty else { return }
    inFlight.add(itemBytes, ordering: .relaxed)
    let isAwaited = handed.withLock { handed in
      let isAwaited = !handed.items.isEmpty
      if isAwaited { handed.items += items } else { handed.items = items }
      handed.bytes += itemBytes
      return isAwaited
    }
    let room = min(items.count, 256)
    items = []
    items.reserveCapacity(room)
    itemBytes = 0
    if !isAwaited { executor.execute { [self] in takeTurn() } }
  }
}

// MARK: - On the executor

extension DeliveryQueue {
  private func takeTurn() {
    let taken = handed.withLock { handed in
      let taken = handed
      handed = Handed()
      return taken
    }
    isTurning = true
    for item in taken.items { run(item) }
    isTurning = false
    flushTouched()
    publishCount()
    inFlight.subtract(taken.bytes, ordering: .relaxed)
  }

  func publishCount() {
    if delivered > 0 { counters.deliveries.add(delivered, ordering: .relaxed) }
    delivered = 0
  }

  private func run(_ item: Item) {
    switch item {
    case .change(let message, let subscribers, let isLate): subscribers.forEach { $0.take(message, isLate: isLate) }
    case .run(let listener, let work): listener.run(work)
    case .join(let listening, let subscribers, let isLate):
      subscribers.join(listening)
      if isLate { listening.restart() }
    case .leave(let listening, let subscribers): subscribers.leave(listening)
    case .load(let listening, let generation, let outcome):
      listening.load(outcome, generation: generation)
      listening.listener.settle()
    case .restart(let subscribers):
      subscribers.isRestarting.store(false, ordering: .releasing)
      subscribers.forEach { $0.restart() }
    case .review(let subscribers):
      subscribers.forEach { listening in
        if !listening.listener.mayContinue(listening) { end(listening, end: .revoked) }
      }
    case .end(let subscribers, let end): subscribers.forEach { self.end($0, end: end) }
    }
  }

  private func end(_ listening: Listening, end: ListenEnd) {
    listening.finish(end)
    listening.listener.settle()
  }

  func countDelivery() { delivered += 1 }

  func touch(_ listener: Listener) {
    guard !listener.isTouched else { return }
    listener.isTouched = true
    touched.append(listener)
  }

  /// Flushes what was written outside of a row of items.
  func flushIfIdle() {
    if !isTurning { flushTouched() }
  }

  private func flushTouched() {
    let listeners = touched
    touched.removeAll(keepingCapacity: true)
    for listener in listeners { listener.flush() }
  }
}

/// The thread of control on which a sink lives: an event loop.
///
/// What the hub has for all sinks of an executor is handed over in one piece, so that a commit costs one hop for each executor and
/// not one for each listener.
public protocol DeliveryExecutor: Sendable {
  /// Equal for values that stand for the same executor; the object must live as long as the executor does.
  var identity: ObjectIdentifier { get }
  /// Runs work on the executor, in the order of the calls, one after the other. Called from any thread.
  func execute(_ work: @escaping @Sendable () -> Void)
}
