import Logging
import StorageCore
import Synchronization

/// Where the writer leaves what happened: its one short touch with the dispatcher.
///
/// Bounded: when too much waits, the events of a namespace are not kept any more, and the namespace *lags*: its events are
/// read from storage later, from the settled revision on.
final class Inbox: Sendable {
  struct Contents {
    var arrivals: [CommittedEvents] = []
    var completions: [(WriterRequest.Purpose, Result<CommitReceipt, CommitError>)] = []
    /// Namespaces that began to lag.
    var lagging: [NamespaceID] = []

    var isEmpty: Bool { arrivals.isEmpty && completions.isEmpty && lagging.isEmpty }
  }

  fileprivate struct State {
    var contents = Contents()
    var eventCount = 0
    /// Events that the dispatcher holds already.
    var backlog = 0
    var lagging: Set<NamespaceID> = []
    /// Until the dispatcher has started, every namespace lags.
    var isClosed = true
    /// Commits that leave nothing to be done: all their events were handled on the writer.
    var quiet: Set<InlineTable.CommitKey> = []
    /// Whether somebody waits for events to be taken in.
    var isAwaited = false
    /// Whether a runner was woken for what is there.
    var isAnnounced = false
    /// Runners without work.
    var idle: [CheckedContinuation<Void, Never>] = []
  }

  /// So many commits that leave nothing to be done wait for others.
  private static let quietMax = 64

  private let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// Takes note of commits. Called on the writer.
  func add(_ batch: [CommittedRequest]) {
    let idle = state.withLock { state -> CheckedContinuation<Void, Never>? in
      var isQuiet = true
      for committed in batch where !committed.receipt.events.isEmpty {
        let key = InlineTable.CommitKey(namespace: committed.request.namespace, revision: committed.receipt.revision)
        if state.quiet.remove(key) == nil { isQuiet = false }
        state.add(committed, capacity: capacity)
      }
      guard !state.contents.isEmpty else { return nil }
      // What leaves nothing to be done is taken in with what comes later, as long as that is little.
      let isLittle = state.contents.arrivals.count < Self.quietMax && state.contents.lagging.isEmpty
      guard !isQuiet || state.isAwaited || !isLittle else { return nil }
      return state.announce()
    }
    idle?.resume()
  }

  /// A commit is about to come that leaves nothing to be done. Called on the writer.
  func expectQuiet(_ commit: InlineTable.CommitKey) {
    state.withLock { _ = $0.quiet.insert(commit) }
  }

  /// Takes note of whether somebody waits for events to be taken in.
  ///
  /// - Returns: whether there are some that nobody was woken for.
  func expectWaiters(_ isAwaited: Bool) -> Bool {
    state.withLock { state in
      state.isAwaited = isAwaited
      return isAwaited && !state.contents.isEmpty
    }
  }

  /// Takes note of what became of a request of the dispatcher's own. Called on the writer.
  func add(_ result: Result<CommitReceipt, CommitError>, of purpose: WriterRequest.Purpose) {
    let idle = state.withLock { state in
      state.contents.completions.append((purpose, result))
      return state.announce()
    }
    idle?.resume()
  }

  /// Takes everything. The caller holds the dispatcher's state, so that what is taken first is applied first.
  func take(backlog: Int) -> Contents? {
    state.withLock { state in
      state.backlog = backlog
      guard !state.contents.isEmpty else { return nil }
      defer {
        state.contents = Contents()
        state.eventCount = 0
        state.isAnnounced = false
      }
      return state.contents
    }
  }

  /// Lets events in: those of namespaces that are not lagging.
  ///
  /// - Returns: the namespaces that had commits while the inbox was closed.
  func open(lagging: [NamespaceID]) -> [NamespaceID] {
    state.withLock { state in
      state.isClosed = false
      let early = state.lagging.subtracting(lagging)
      state.lagging.formUnion(lagging)
      state.contents.lagging = []
      // Nobody will take what is not there any more.
      if state.contents.isEmpty { state.isAnnounced = false }
      return Array(early)
    }
  }

  /// The namespace does not lag any more: its events are kept from now on.
  func follow(_ namespace: NamespaceID) {
    state.withLock { _ = $0.lagging.remove(namespace) }
  }

  /// Parks a runner until there is something to do.
  ///
  /// - Returns: false if there is something already; the continuation is then not kept.
  func park(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
    state.withLock { state in
      guard state.contents.isEmpty else { return false }
      state.idle.append(continuation)
      return true
    }
  }

  /// Wakes one idle runner, or all.
  func wake(all: Bool = false) {
    let idle = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard all else { return state.idle.popLast().map { [$0] } ?? [] }
      defer { state.idle = [] }
      return state.idle
    }
    for runner in idle { runner.resume() }
  }
}

fileprivate extension Inbox.State {
  /// The runner to wake: one for all that gathers until it has taken it.
  mutating func announce() -> CheckedContinuation<Void, Never>? {
    guard !isAnnounced else { return nil }
    isAnnounced = true
    return idle.popLast()
  }

  mutating func add(_ committed: CommittedRequest, capacity: Int) {
    let namespace = committed.request.namespace
    guard !lagging.contains(namespace) else { return }
    let events = committed.receipt.events
    guard !isClosed, eventCount + backlog + events.count <= capacity else {
      lagging.insert(namespace)
      contents.lagging.append(namespace)
      return
    }
    eventCount += events.count
    contents.arrivals.append(
      CommittedEvents(
        namespace: namespace, events: events,
        commit: EventFacts.Commit(
          time: committed.receipt.time, actor: committed.request.actor, changes: committed.changes),
        parent: committed.request.log.cause?.parent))
  }
}

/// A request of the dispatcher's own, and what its end means.
struct WriterRequest: Sendable {
  enum Purpose: Sendable {
    /// The end of a run: its effects and its execution record.
    case effect(Delivery, ExecutionRecord)
    /// A failed attempt: a retry, or a dead letter.
    case attempt(Delivery, DeliveryRecord, FailedAttempt)
    /// Deliveries that wait behind one that waits for a retry.
    case wait([Delivery])
    /// The same, which exceed their share of memory.
    case spill([Delivery])
    /// Deliveries of a paused function; `isLate` if the writer's queue was full for their records at first.
    case park([Delivery], isLate: Bool)
    /// Dead letters for functions that nobody registered.
    case letters([DeliveryRecord], NamespaceID)
    /// Removes the delivery record of an event that was handled before.
    case settle(Delivery)
    /// Something that nobody waits for.
    case note
  }

  var request: CommitRequest
  let purpose: Purpose
}

/// What is to be done once the dispatcher's state is unlocked.
struct CommitActions {
  var submissions: [WriterRequest] = []
  /// Waiters whose wait is over, and whether what they waited for has happened.
  var released: [(waiter: CheckedContinuation<Bool, Never>, isReady: Bool)] = []
  /// Waiters for the records of a paused function.
  var parked: [CheckedContinuation<Void, Never>] = []
  /// Who waited for the runners to end.
  var stopped: CheckedContinuation<Void, Never>?
  var remarks: [(Logger.Level, Logger.Message)] = []
  /// Whether a runner without work is to be woken.
  var wakesRunner = false
  /// Whether the time to wake at is earlier than it was.
  var startsTimer = false
}
