import DequeModule

/// A connection with its listens.
///
/// `@unchecked Sendable`: what can change is touched on the listener's executor only; ``afterDeliveries(_:)`` alone may be called
/// from elsewhere, and only hands on to the hub.
public final class Listener: @unchecked Sendable {
  /// Where its events go.
  private let sink: any ListenSink
  private let hub: ListenerHub
  let queue: DeliveryQueue
  var limits: ListenLimits { hub.limits }

  /// The listens that were made and not stopped, in no particular order.
  public private(set) var listenings: [Listening] = []
  private var outstanding = 0
  /// Snapshots that are on their way.
  private var loading = 0
  /// Those of them that are not a listen's first.
  private var reloading = 0
  /// What waits for the first events of listens.
  private var held: HeldDeliveries
  private var isAdvancing = false
  /// Listens that missed an event and need a snapshot, in that order.
  private var stale = Deque<Listening>()
  /// Closures that run once every listen that missed an event has its snapshot.
  private var waiting: [@Sendable () -> Void] = []
  private var isClosed = false
  /// Whether events were given to the sink and not flushed.
  var isTouched = false

  init(sink: any ListenSink, queue: DeliveryQueue, hub: ListenerHub) {
    self.sink = sink
    self.queue = queue
    self.hub = hub
    held = HeldDeliveries(bytesMax: hub.limits.outstandingBytesMax)
  }

  /// Begins to listen. Events come later, never from within this call.
  ///
  /// Call it on the executor.
  /// - Returns: nil if the connection has ``ListenLimits/listensPerConnectionMax`` listens already.
  public func listen(_ request: ListenRequest) -> Listening? {
    guard !isClosed, listenings.count < limits.listensPerConnectionMax else { return nil }
    let listening = Listening(request: request, listener: self)
    listening.position = listenings.count
    listenings.append(listening)
    held.append(listening)
    listening.beginReading()
    hub.begin(listening)
    return listening
  }

  /// Ends a listen; nothing comes for it any more. Call it on the executor.
  public func stop(_ listening: Listening) {
    listening.stop()
    forget(listening)
    settle()
  }

  /// Bytes that ``ListenSink/receive(_:for:)`` counted have left. Call it on the executor.
  public func didWrite(_ bytes: Int) {
    outstanding = max(0, outstanding - bytes)
    recoverNext()
  }

  /// Runs `run` on the executor once every event of every commit that was durable at the time of this call was given to the
  /// sink, those of listens that began before and are still reading their snapshot included; then flushes.
  ///
  /// Acknowledgements go this way: observers are told of a commit before its
  /// completion runs, so a completion that calls this needs no revision. From any thread. Not run if the connection is closed
  /// before.
  public func afterDeliveries(_ run: @escaping @Sendable () -> Void) {
    hub.push(.run(self, run))
  }

  /// Ends all listens, because the connection has ended. Call it on the executor.
  public func close() {
    isClosed = true
    let all = listenings
    listenings = []
    for listening in all {
      listening.stop()
      hub.end(listening)
    }
    stale = []
    waiting = []
    held = HeldDeliveries(bytesMax: 0)
  }
}

// MARK: - On the executor

extension Listener {
  /// - Returns: false if the client is too far behind; nothing was sent then.
  func send(_ event: ListenEvent, for listening: Listening) -> Bool {
    guard outstanding <= limits.outstandingBytesMax else { return false }
    queue.touch(self)
    queue.countDelivery()
    outstanding += sink.receive(event, for: listening)
    return true
  }

  func sendEnd(_ end: ListenEnd, for listening: Listening) {
    guard !isClosed else { return }
    queue.touch(self)
    _ = sink.receive(.ended(end), for: listening)
  }

  func mayContinue(_ listening: Listening) -> Bool { sink.mayContinue(listening) }

  func flush() {
    isTouched = false
    if !isClosed { sink.flush() }
  }

  func beginLoading(isFirst: Bool) {
    loading += 1
    if !isFirst { reloading += 1 }
  }

  func didLoad(isFirst: Bool) {
    loading -= 1
    if !isFirst { reloading -= 1 }
  }

  func requestLoad(of listening: Listening) {
    hub.reload(listening)
  }

  func noteStale(_ listening: Listening) {
    stale.append(listening)
    recoverNext()
  }

  func forget(_ listening: Listening) {
    guard listening.position < listenings.count, listenings[listening.position] === listening else { return }
    listenings[listenings.count - 1].position = listening.position
    listenings.swapAt(listening.position, listenings.count - 1)
    listenings.removeLast()
    hub.end(listening)
  }

  func run(_ work: @escaping @Sendable () -> Void) {
    guard !isClosed else { return }
    if isHolding { held.append(work) } else { perform(work) }
  }

  private func perform(_ work: @escaping @Sendable () -> Void) {
    guard waiting.isEmpty, reloading == 0, stale.isEmpty else { return waiting.append(work) }
    queue.touch(self)
    // Counted first, so that work that waits for the deliveries sees them.
    queue.publishCount()
    work()
  }

  /// Looks whether what waits for the listens can happen.
  func settle() {
    if !stale.isEmpty { stale.removeAll { if case .stale = $0.state { false } else { true } } }
    advance()
    recoverNext()
    if !waiting.isEmpty, reloading == 0, stale.isEmpty {
      let ready = waiting
      waiting = []
      for work in ready { perform(work) }
    }
    // Outside of a turn of the executor nothing else flushes.
    queue.flushIfIdle()
  }

  /// One after the other, so that a slow client with many listens holds one snapshot in memory and not all of them.
  private func recoverNext() {
    guard !isClosed, loading == 0, outstanding <= limits.outstandingBytesMax / 4 else { return }
    while !stale.isEmpty {
      let next = stale.removeFirst()
      guard case .stale = next.state else { continue }
      return next.recover()
    }
  }
}

// MARK: - What waits for the first events of listens

extension Listener {
  /// Whether a listen that began has not got its first event: what comes now waits for it.
  var isHolding: Bool { !held.isEmpty }

  func isNext(_ listening: Listening) -> Bool { held.isNext(listening) }

  /// - Returns: false if too much waits: the listen has missed the message.
  func hold(_ message: ListenMessage, for listening: Listening, isLate: Bool) -> Bool {
    held.append(message, for: listening, isLate: isLate)
  }

  /// Whether a first event that has come too early may be kept until its turn.
  func keeps(_ outcome: LoadOutcome) -> Bool {
    if case .read(let message, _) = outcome { held.take(message) } else { true }
  }

  /// What was kept is kept no more.
  func release(_ outcome: LoadOutcome) {
    if case .read(let message, _) = outcome { held.release(message) }
  }

  /// Delivers waiting events up to the next first event that has not come.
  private func advance() {
    // The sink may stop a listen, which calls this function again.
    guard !isAdvancing else { return }
    isAdvancing = true
    defer { isAdvancing = false }
    while !isClosed, let next = held.first {
      switch next {
      case .first(let listening): guard listening.takeTurn() else { return }
      case .change(let message, let listening): listening.give(message)
      case .run(let work): perform(work)
      }
      if !held.isEmpty { held.removeFirst() }
    }
  }
}

/// Events held back until a listen that began earlier has its first event, in order.
struct HeldDeliveries {
  enum Item {
    /// The first event of a listen, which may not be here yet.
    case first(Listening)
    case change(ListenMessage, Listening)
    /// A closure that runs once everything before it is delivered.
    case run(@Sendable () -> Void)
  }

  /// What a message takes beyond its body.
  private static let messageBytes = 64

  private var items = Deque<Item>()
  /// Bytes of the changes, and of first events that have to wait.
  private var bytes = 0
  private let bytesMax: Int

  init(bytesMax: Int) {
    self.bytesMax = bytesMax
  }

  var isEmpty: Bool { items.isEmpty }
  var first: Item? { items.first }

  /// Whether a listen's first event is the next thing to be given.
  func isNext(_ listening: Listening) -> Bool {
    if case .first(let next) = first { next === listening } else { false }
  }

  mutating func append(_ listening: Listening) { items.append(.first(listening)) }
  mutating func append(_ work: @escaping @Sendable () -> Void) { items.append(.run(work)) }

  /// - `isLate`: whether the change is older than it seems, see ``DeliveryQueue/Item``: work that waits for it may be here
  ///   already, and stays behind it.
  /// - Returns: false if there is too much already: it was not taken.
  mutating func append(_ change: ListenMessage, for listening: Listening, isLate: Bool) -> Bool {
    guard take(change) else { return false }
    items.insert(.change(change, listening), at: isLate ? firstWork(behind: listening) : items.count)
    return true
  }

  /// The index of the first closure that waits for a listen's first event.
  private func firstWork(behind listening: Listening) -> Int {
    var isBehind = false
    let index = items.firstIndex { item in
      switch item {
      case .first(let other): isBehind = isBehind || other === listening
      case .change: break
      case .run: return isBehind
      }
      return false
    }
    return index ?? items.count
  }

  /// Counts a message that waits elsewhere.
  ///
  /// - Returns: false if there is too much already: it is not counted, and must be let go.
  mutating func take(_ message: ListenMessage) -> Bool {
    let size = message.body.count + Self.messageBytes
    guard bytes + size <= bytesMax else { return false }
    bytes += size
    return true
  }

  /// Counts no more what ``take(_:)`` counted.
  mutating func release(_ message: ListenMessage) { bytes -= message.body.count + Self.messageBytes }

  mutating func removeFirst() {
    if case .change(let message, _) = items.removeFirst() { release(message) }
  }
}
