/// A connection with its listens.
///
/// `@unchecked Sendable`: what can change is touched on the listener's lane only; ``afterDeliveries(_:)`` alone may be called
/// from elsewhere, and only hands on to the hub.
public final class Listener: @unchecked Sendable {
  /// Where its events go.
  private let sink: any ListenSink
  private let hub: ListenerHub
  let lane: DeliveryQueue
  var limits: ListenLimits { hub.limits }

  /// The listens that were made and not stopped, in no particular order.
  public private(set) var listenings: [Listening] = []
  /// Bytes that wait to be written to the client.
  private var outstanding = 0
  /// Listens whose snapshot is on its way.
  private var loading = 0
  /// Listens that missed something, in the order in which they did.
  private var stale: [Listening] = []
  /// What is to happen once every listen has what was committed before.
  private var waiting: [@Sendable () -> Void] = []
  private var isClosed = false
  /// Whether events were given to the sink and not flushed.
  var isTouched = false

  init(sink: any ListenSink, lane: DeliveryQueue, hub: ListenerHub) {
    self.sink = sink
    self.lane = lane
    self.hub = hub
  }

  /// Begins to listen. Events come later, never from within this call.
  ///
  /// Call it on the lane.
  /// - Returns: nil if the connection has ``ListenLimits/listensPerConnectionMax`` listens already.
  public func listen(_ request: ListenRequest) -> Listening? {
    guard !isClosed, listenings.count < limits.listensPerConnectionMax else { return nil }
    let listening = Listening(request: request, listener: self)
    listening.position = listenings.count
    listenings.append(listening)
    beginLoading()
    hub.begin(listening)
    return listening
  }

  /// Ends a listen; nothing comes for it any more. Call it on the lane.
  public func stop(_ listening: Listening) {
    listening.stop()
    forget(listening)
    settle()
  }

  /// Bytes that ``ListenSink/receive(_:for:)`` counted have left. Call it on the lane.
  public func didWrite(_ bytes: Int) {
    outstanding = max(0, outstanding - bytes)
    recoverNext()
  }

  /// Runs `run` on the lane once every event of every commit that was durable at the time of this call was given to the
  /// sink, those of listens that are still reading their snapshot included; then flushes.
  ///
  /// Acknowledgements go this way (spec: rtdb-protocol §3.5, invariants 3 and 4): observers are told of a commit before its
  /// completion runs, so a completion that calls this needs no revision. From any thread. Not run if the connection is closed
  /// before.
  public func afterDeliveries(_ run: @escaping @Sendable () -> Void) {
    hub.push(.run(self, run))
  }

  /// Ends all listens, because the connection has ended. Call it on the lane.
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
  }
}

// MARK: - On the lane

extension Listener {
  /// - Returns: false if the client is too far behind; nothing was sent then.
  func send(_ event: ListenEvent, for listening: Listening) -> Bool {
    guard outstanding <= limits.outstandingBytesMax else { return false }
    lane.touch(self)
    lane.countDelivery()
    outstanding += sink.receive(event, for: listening)
    return true
  }

  func sendEnd(_ end: ListenEnd, for listening: Listening) {
    guard !isClosed else { return }
    lane.touch(self)
    _ = sink.receive(.ended(end), for: listening)
  }

  func mayContinue(_ listening: Listening) -> Bool { sink.mayContinue(listening) }

  func flush() {
    isTouched = false
    if !isClosed { sink.flush() }
  }

  func beginLoading() { loading += 1 }

  func didLoad() { loading -= 1 }

  func requestLoad(of listening: Listening) {
    hub.reload(listening)
  }

  func noteStale(_ listening: Listening) {
    stale.append(listening)
    recoverNext()
  }

  /// Takes a listen that is over off the lists.
  func forget(_ listening: Listening) {
    guard listening.position < listenings.count, listenings[listening.position] === listening else { return }
    listenings[listenings.count - 1].position = listening.position
    listenings.swapAt(listening.position, listenings.count - 1)
    listenings.removeLast()
    hub.end(listening)
  }

  func run(_ work: @escaping @Sendable () -> Void) {
    guard !isClosed else { return }
    guard waiting.isEmpty, loading == 0, stale.isEmpty else { return waiting.append(work) }
    lane.touch(self)
    work()
  }

  /// Looks whether what waits for the listens can happen.
  func settle() {
    if !stale.isEmpty { stale.removeAll { if case .stale = $0.state { false } else { true } } }
    recoverNext()
    guard !waiting.isEmpty, loading == 0, stale.isEmpty else { return }
    let ready = waiting
    waiting = []
    lane.touch(self)
    lane.publishCount()
    for work in ready { work() }
    // Called outside of a turn of the lane, nobody else would flush.
    lane.flushIfIdle()
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
