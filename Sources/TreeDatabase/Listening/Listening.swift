import StorageCore

/// One listen of one connection, as its transport holds it.
///
/// `@unchecked Sendable`: `request` and `listener` never change; ``group`` belongs to the hub's thread; everything else is
/// touched on the listener's lane only, where the hub's work for the lane runs too.
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

  private(set) var state = State.loading
  /// Counts the snapshots that were asked for: of several on their way only the last counts.
  private(set) var generation = 0
  /// The first snapshot may be answered with "current"; later ones may not, for the client has moved on.
  private var isFirst = true
  private var held: [ListenMessage] = []
  /// Of messages up to this revision some were dropped while the snapshot was read.
  private var droppedThrough = Revision.zero
  /// Where it stands in its audience.
  var seat: Int?
  /// Where it stands in its listener's list.
  var position = 0

  /// The hub's: where it listens; nil once it has left.
  weak var group: ListenGroup?

  init(request: ListenRequest, listener: Listener) {
    self.request = request
    self.listener = listener
  }

  /// What a commit changed.
  func take(_ message: ListenMessage) {
    switch state {
    case .live(let since):
      guard message.revision > since else { return }
      if !listener.send(.change(message), for: self) { becomeStale() }
    case .loading:
      if held.count >= listener.limits.heldMessagesMax { droppedThrough = held.removeFirst().revision }
      held.append(message)
    case .stale, .stopped: break
    }
  }

  /// The snapshot that was asked for, or why there is none.
  func load(_ outcome: LoadOutcome, generation: Int) {
    guard case .loading = state, generation == self.generation else { return }
    switch outcome {
    case .failed(let end): return finish(end)
    case .read(let message, let isCurrent):
      guard message.revision >= droppedThrough else { return reload() }
      listener.didLoad()
      state = .live(message.revision)
      let event = isCurrent && isFirst ? ListenEvent.current(message.revision) : .snapshot(message)
      guard listener.send(event, for: self) else { return becomeStale() }
      isFirst = false
      let waiting = held
      held = []
      for message in waiting { take(message) }
    }
  }

  /// Asks for a snapshot, because something was missed.
  func restart() {
    switch state {
    case .loading: reload()
    case .live:
      state = .loading
      listener.beginLoading()
      reload()
    case .stale, .stopped: break
    }
  }

  /// The client has caught up: what it missed is read.
  func recover() {
    guard case .stale = state else { return }
    state = .loading
    listener.beginLoading()
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
    if case .loading = state { listener.didLoad() }
    state = .stopped
    held = []
  }

  private func reload() {
    generation += 1
    held = []
    droppedThrough = .zero
    listener.requestLoad(of: self)
  }

  private func becomeStale() {
    guard case .live = state else { return }
    state = .stale
    listener.noteStale(self)
  }
}
