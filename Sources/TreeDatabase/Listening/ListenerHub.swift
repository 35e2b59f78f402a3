public import StorageCore
import Synchronization
import TreeModel

/// Tells everyone who listens what was committed: each commit to each listen at most once, in revision order.
///
/// The writer only takes note. A thread of the hub's own finds the listens that a commit concerns by a trie, makes one
/// message for all that listen to the same place in the same way, and hands it to the executors (event loops) on which the
/// connections live; the rest happens there. Nobody who is slow holds up anybody else: see <doc:Listeners>.
public final class ListenerHub: CommitObserver {
  /// How much listening may cost.
  public let limits: ListenLimits

  /// Tells of commits that may change what rules say of listens.
  public let watch = PathWatch()

  private let queue = WriterQueue<HubWork>(capacity: .max)
  private let counters = ListenCounters()
  private let queues = Mutex<[ObjectIdentifier: DeliveryQueue]>([:])
  private let threads = Mutex<(hub: BlockingThread, reader: SnapshotReader)?>(nil)
  private let missed = MissedCommits()
  private let search = WindowSearch()

  /// For a tree at which nobody listens: it tells nobody anything.
  public static func silent() -> ListenerHub {
    let hub = ListenerHub(limits: ListenLimits())
    hub.queue.close()
    return hub
  }

  private init(limits: ListenLimits) {
    self.limits = limits
  }

  /// Starts the threads, which ``stop()`` must end. Give it to the database as an observer.
  ///
  /// - `engine`: where snapshots are read.
  public convenience init(engine: any StorageEngine, limits: ListenLimits = ListenLimits()) {
    self.init(limits: limits)
    start(reading: engine)
  }

  private func start(reading engine: any StorageEngine) {
    let (queue, limits) = (queue, limits)
    let reader = SnapshotReader(engine: engine, limits: limits, search: search) { result in _ = queue.push(.loaded(result)) }
    let hub = BlockingThread { [counters, missed, search] in
      var fanOut = FanOut(limits: limits, counters: counters, missed: missed, reader: reader, search: search)
      while let works = queue.take(128) {
        // Without waiting for the disk: what is looked at is as of revisions that the hub was told of, and those are durable.
        _ = engine.readAhead { snapshot in
          for work in works { fanOut.perform(work, snapshot: snapshot) }
        }
        fanOut.finishTurn()
      }
    }
    threads.withLock { $0 = (hub, reader) }
  }

  /// From now on windows are searched by the indexes of the database, where it has some.
  public func search(with reader: TreeReader) { search.reader = reader }

  /// A connection that wants to listen.
  ///
  /// - Parameters:
  ///   - sink: gets the events; the listener holds it until ``Listener/close()``.
  ///   - executor: where the sink lives.
  public func attach(_ sink: any ListenSink, on executor: any DeliveryExecutor) -> Listener {
    let queue = queues.withLock { queues in
      if let queue = queues[executor.identity] { return queue }
      let queue = DeliveryQueue(executor: executor, counters: counters, bytesMax: limits.executorBytesMax)
      queues[executor.identity] = queue
      return queue
    }
    return Listener(sink: sink, queue: queue, hub: self)
  }

  /// Asks for every listen again whether it may stay (``ListenSink/mayContinue(_:)``), because rules or identities changed:
  /// one that may not ends as ``ListenEnd/revoked``.
  public func review() {
    push(.review)
  }

  /// What was done so far, and how many listen.
  public var counts: ListenCounts { counters.current }

  /// Ends the threads, after what was committed has been handed to the executors.
  public func stop() {
    let running = threads.withLock { threads in
      defer { threads = nil }
      return threads
    }
    guard let running else { return }
    running.reader.stop()
    queue.close()
    running.hub.join()
  }

  public func didCommit(_ batch: [CommittedRequest]) {
    watch.didCommit(batch)
    guard counters.listens.load(ordering: .acquiring) > 0 else { return }
    let batch = batch.contains { $0.changes.last?.path.isAccounts == true } ? batch.map(\.ofTree) : batch
    var weight = 0
    for commit in batch where commit.receipt.changed { weight += 1 + commit.changes.count }
    guard weight > 0 else { return }
    switch missed.admit(weight, of: batch, max: limits.backlogMax) {
    case .admitted: push(.commits(batch, weight: weight))
    case .missedFirst: push(.missed)
    case .missed: break
    }
  }

  public func didForget(_ namespace: NamespaceID) {
    push(.forget(namespace))
  }
}

extension CommittedRequest {
  /// The commit as listeners see it: accounts are no part of the tree.
  fileprivate var ofTree: CommittedRequest {
    CommittedRequest(request: request, receipt: receipt, changes: changes.withoutAccounts)
  }
}

// MARK: - For listeners

extension ListenerHub {
  func push(_ work: HubWork) { _ = queue.push(work) }

  func begin(_ listening: Listening) {
    // Before the place in the queue: a commit that sees no listens is older than the snapshot that will be read.
    counters.listens.add(1, ordering: .acquiringAndReleasing)
    push(.listen(listening))
  }

  func end(_ listening: Listening) { push(.leave(listening)) }

  func reload(_ listening: Listening) {
    counters.resyncs.add(1, ordering: .relaxed)
    push(.reload(listening, generation: listening.generation))
  }
}

/// What waits for the hub's thread; done in order.
enum HubWork: Sendable {
  case commits([CommittedRequest], weight: Int)
  /// Commits were left out, of the namespaces that ``MissedCommits`` noted.
  case missed
  case listen(Listening)
  case leave(Listening)
  /// The executor wants another snapshot.
  case reload(Listening, generation: Int)
  case loaded(LoadResult)
  case run(Listener, @Sendable () -> Void)
  case review
  case forget(NamespaceID)
}

/// How much listening may cost.
public struct ListenLimits: Sendable {
  /// Bytes that may wait to be written to one client. Beyond it the client's changes are dropped, and it gets fresh
  /// snapshots once it has caught up.
  public var outstandingBytesMax = 512 << 10
  /// Bytes of messages that an executor may be behind. Beyond it the listens concerned get fresh snapshots.
  public var executorBytesMax = 32 << 20
  /// Leaf changes (and requests) that may wait for the hub. Beyond it what is committed is not looked at any more, and every
  /// listen of the namespaces concerned gets a fresh snapshot.
  public var backlogMax = 500_000
  /// Messages that a listen keeps while its snapshot is read; of more the oldest are dropped, and if the snapshot turns out
  /// to be older than those it is read again.
  public var heldMessagesMax = 4096
  /// Leaves below a listen that has a window, or that is sent whole; more end the listen.
  public var leavesMax = 1_000_000
  /// Children beyond a window's limit that are remembered, so that one that leaves is followed by the next without a search.
  public var reserveMax = 256
  /// Listens of one connection.
  public var listensPerConnectionMax = 10_000
  /// Threads that read snapshots.
  public var readerCount = 2

  public init() {}
}

/// What the hub has done and has to do, as numbers.
public struct ListenCounts: Sendable, Hashable {
  /// Listens at the moment.
  public let listens: Int
  /// Events given to sinks.
  public let deliveries: Int
  /// Snapshots that listens needed beside their first, because a client or the hub fell behind.
  public let resyncs: Int
}

/// The same, while it is counted.
final class ListenCounters: Sendable {
  let listens = Atomic<Int>(0)
  let deliveries = Atomic<Int>(0)
  let resyncs = Atomic<Int>(0)

  var current: ListenCounts {
    ListenCounts(
      listens: listens.load(ordering: .relaxed), deliveries: deliveries.load(ordering: .relaxed),
      resyncs: resyncs.load(ordering: .relaxed))
  }
}

/// Bounds what waits for the hub, and notes the namespaces of which commits were left out.
///
/// While any is noted, one ``HubWork/missed`` is in the queue. Whatever is noted before the hub takes the note was durable
/// before: snapshots that are read afterwards have it.
final class MissedCommits: Sendable {
  enum Admission {
    case admitted
    /// Left out, and a note must be queued.
    case missedFirst
    /// Left out; the note is queued already.
    case missed
  }

  private let backlog = Atomic<Int>(0)
  private let namespaces = Mutex<Set<NamespaceID>>([])

  func admit(_ weight: Int, of batch: [CommittedRequest], max: Int) -> Admission {
    if backlog.load(ordering: .relaxed) + weight <= max {
      backlog.add(weight, ordering: .relaxed)
      return .admitted
    }
    return namespaces.withLock { namespaces in
      let isFirst = namespaces.isEmpty
      for commit in batch where commit.receipt.changed { namespaces.insert(commit.request.namespace) }
      return isFirst ? .missedFirst : .missed
    }
  }

  func release(_ weight: Int) { backlog.subtract(weight, ordering: .relaxed) }

  func take() -> Set<NamespaceID> {
    namespaces.withLock { namespaces in
      defer { namespaces = [] }
      return namespaces
    }
  }
}
