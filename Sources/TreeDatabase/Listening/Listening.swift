import DequeModule
import StorageCore

/// One listen of one connection, as its transport holds it.
///
/// `@unchecked Sendable`: `request` and `listener` never change; ``group`` belongs to the hub's thread; everything else is
/// touched on the listener's executor only, where the hub's work for the executor runs too.
public final class Listening: @unchecked Sendable {
  /// What was asked.
  public let request: ListenRequest
  /// The connection that asked.
  public let listener: Listener

  enum State {
    /// Its snapshot is being read; messages wait.
    case loading
    /// It has everything up to this revision.
    case live(Revision)
    /// It missed something because its client is slow; a snapshot follows when that has caught up.
    case stale
    case stopped
  }

  /// The first snapshot, when it is there before those of listens that began earlier.
  private enum Early {
    case held(LoadOutcome)
    /// It was too much to be kept: it is read again in its turn.
    case dropped
  }

  private(set) var state = State.loading
  /// Counts the snapshots that were asked for: of several on their way only the last counts.
  private(set) var generation = 0
  /// Whether a snapshot is on its way.
  private var isReading = false
  /// Whether the first event was given. It may be "current"; later ones may not, for the client has moved on.
  private(set) var hasBegun = false
  private var early: Early?
  /// Messages that came while a snapshot was read that is not the first.
  private var held = Deque<ListenMessage>()
  /// Of messages up to this revision some were dropped while the snapshot was read.
  private var droppedThrough = Revision.zero
  /// Where it is in its audience.
  var seat: Int?
  /// Where it is in its listener's list.
  var position = 0

  /// The hub's: where it listens; nil once it has left.
  weak var group: ListenGroup?

  init(request: ListenRequest, listener: Listener) {
    self.request = request
    self.listener = listener
  }

  /// What a commit changed.
  ///
  /// - `isLate`: see ``DeliveryQueue/Item``; then the first event is still to come, or a snapshot.
  func take(_ message: ListenMessage, isLate: Bool) {
    switch state {
    case .live(let since):
      guard message.revision > since else { return }
      guard listener.isHolding else { return give(message) }
      if !listener.hold(message, for: self, isLate: isLate) { becomeStale() }
    case .loading where !hasBegun:
      if !listener.hold(message, for: self, isLate: isLate) { droppedThrough = message.revision }
    case .loading:
      if held.count >= listener.limits.heldMessagesMax { droppedThrough = held.removeFirst().revision }
      held.append(message)
    case .stale, .stopped: break
    }
  }

  /// A change whose turn it is.
  func give(_ message: ListenMessage) {
    guard case .live(let since) = state, message.revision > since else { return }
    if !listener.send(.change(message), for: self) { becomeStale() }
  }

  /// The snapshot that was asked for, or why there is none.
  func load(_ outcome: LoadOutcome, generation: Int) {
    guard isReading, generation == self.generation else { return }
    endReading()
    if hasBegun || listener.isNext(self) { return show(outcome) }
    early = listener.keeps(outcome) ? .held(outcome) : .dropped
  }

  /// It is the turn of the first event.
  ///
  /// - Returns: whether it was given, or never will be.
  func takeTurn() -> Bool {
    let early = early
    dropEarly()
    switch early {
    case nil: break
    case .held(let outcome): show(outcome)
    case .dropped: reload()
    }
    if case .stopped = state { return true }
    return hasBegun
  }

  private func show(_ outcome: LoadOutcome) {
    switch outcome {
    case .failed(let end): finish(end)
    case .read(let message, let isCurrent):
      guard message.revision >= droppedThrough else { return reload() }
      state = .live(message.revision)
      let event = isCurrent && !hasBegun ? ListenEvent.current(message) : .snapshot(message)
      guard listener.send(event, for: self) else { return becomeStale() }
      hasBegun = true
      let waiting = held
      held = []
      for message in waiting { give(message) }
    }
  }

  /// Asks for a snapshot, because something was missed.
  func restart() {
    switch state {
    case .loading: reload()
    case .live:
      state = .loading
      reload()
    case .stale, .stopped: break
    }
  }

  /// The client has caught up: what it missed is read.
  func recover() {
    guard case .stale = state else { return }
    state = .loading
    reload()
  }

  /// Ends it from this side: the client is told.
  func finish(_ end: ListenEnd) {
    if case .stopped = state { return }
    stop()
    listener.sendEnd(end, for: self)
    listener.forget(self)
  }

  /// Ends it from the client's side.
  func stop() {
    endReading()
    dropEarly()
    state = .stopped
    held = []
  }

  /// A snapshot is on its way.
  func beginReading() {
    guard !isReading else { return }
    isReading = true
    listener.beginLoading(isFirst: !hasBegun)
  }

  private func endReading() {
    guard isReading else { return }
    isReading = false
    listener.didLoad(isFirst: !hasBegun)
  }

  private func dropEarly() {
    if case .held(let outcome) = early { listener.release(outcome) }
    early = nil
  }

  private func reload() {
    generation += 1
    held = []
    droppedThrough = .zero
    dropEarly()
    beginReading()
    listener.requestLoad(of: self)
  }

  private func becomeStale() {
    guard case .live = state else { return }
    state = .stale
    listener.noteStale(self)
  }
}
