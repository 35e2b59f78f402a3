import StorageCore
import Synchronization
import TreeModel

/// What the hub's thread does: who listens where, and what each commit means to them.
struct FanOut {
  private let limits: ListenLimits
  private let counters: ListenCounters
  private let missed: MissedCommits
  private let reader: SnapshotReader
  private let search: WindowSearch
  private var table = ListenTable()
  /// Executors that have something to be handed over.
  private var busy: [DeliveryQueue] = []
  /// Groups in which listens began to wait for a snapshot in this turn: they share one.
  private var thirsty: [ListenGroup] = []
  /// Namespaces that are gone. Their numbers are never given again, and they are few.
  private var forgotten: Set<NamespaceID> = []

  init(limits: ListenLimits, counters: ListenCounters, missed: MissedCommits, reader: SnapshotReader, search: WindowSearch) {
    self.limits = limits
    self.counters = counters
    self.missed = missed
    self.reader = reader
    self.search = search
  }

  mutating func perform(_ work: HubWork, snapshot: any Snapshot) {
    switch work {
    case .commits(let batch, let weight):
      missed.release(weight)
      for commit in batch where commit.receipt.changed { tell(commit, snapshot: snapshot) }
    case .run(let listener, let work): append(.run(listener, work), to: listener.queue)
    case .listen(let listening): listen(listening)
    case .leave(let listening): leave(listening)
    case .reload(let listening, let generation): wait(listening, generation: generation)
    case .loaded(let result): loaded(result, snapshot: snapshot)
    case .missed:
      for namespace in missed.take() {
        var groups: [ListenGroup] = []
        table.forEachGroup(in: namespace) { groups.append($0) }
        for group in groups { restart(group) }
      }
    case .review: notifyAll(nil) { .review($0) }
    case .forget(let namespace):
      forgotten.insert(namespace)
      notifyAll(namespace) { .end($0, .namespaceForgotten) }
    }
  }

  /// Hands over what has gathered.
  mutating func finishTurn() {
    for group in thirsty { read(group) }
    thirsty.removeAll(keepingCapacity: true)
    for queue in busy { queue.submit() }
    busy.removeAll(keepingCapacity: true)
  }

  private mutating func append(_ item: DeliveryQueue.Item, to queue: DeliveryQueue) {
    if queue.append(item) { busy.append(queue) }
  }

  private mutating func notifyAll(_ namespace: NamespaceID?, item: (QueueSubscribers) -> DeliveryQueue.Item) {
    var told: [QueueSubscribers] = []
    if let namespace {
      table.forEachGroup(in: namespace) { told += $0.subscribersByQueue.values }
    } else {
      table.forEachGroup { told += $0.subscribersByQueue.values }
    }
    for subscribers in told { append(item(subscribers), to: subscribers.queue) }
  }
}

// MARK: - Commits

extension FanOut {
  private mutating func tell(_ commit: CommittedRequest, snapshot: any Snapshot) {
    var concerned: [(ListenGroup, Range<Int>)] = []
    table.forEachChanged(in: commit.request.namespace, changes: commit.changes) { point, range in
      for group in point.groups { concerned.append((group, range)) }
    }
    guard !concerned.isEmpty else { return }
    let view = view(of: commit, snapshot: snapshot)
    for (group, range) in concerned { tell(group, view: view, range: range) }
  }

  private func view(of commit: CommittedRequest, snapshot: any Snapshot) -> CommitView {
    CommitView(
      commit,
      reader: CommitReader(
        snapshot: snapshot, namespace: commit.request.namespace, revision: commit.receipt.revision,
        leavesMax: limits.leavesMax, search: search))
  }

  private mutating func tell(_ group: ListenGroup, view: CommitView, range: Range<Int>, isLate: Bool = false) {
    if let window = group.window, !window.isLive { return window.hold(view.commit, changes: range) }
    if let window = group.window, window.isCheaperToRead(than: range.count) { return restart(group) }
    let message: ListenMessage?
    do throws(ListenError) {
      if let window = group.window {
        message = try window.message(for: view, changes: range, format: group.format)
      } else {
        message = try view.message(at: group.path, changes: range, format: group.format)
      }
    } catch {
      // What could not be read now is read again; if that fails too, the listens end with the reason.
      return restart(group)
    }
    guard let message else { return }
    for subscribers in group.subscribersByQueue.values where subscribers.queue.send(message, to: subscribers, isLate: isLate) {
      busy.append(subscribers.queue)
    }
  }

  /// Everyone in the group gets a fresh snapshot.
  private mutating func restart(_ group: ListenGroup) {
    group.window?.reset()
    for subscribers in group.subscribersByQueue.values where subscribers.queue.restart(subscribers) {
      busy.append(subscribers.queue)
    }
  }
}

// MARK: - Coming and going

extension FanOut {
  private mutating func listen(_ listening: Listening) {
    let group = table.group(for: listening.request, limits: limits)
    listening.group = group
    let subscribers = group.subscribers(on: listening.listener.queue)
    subscribers.count += 1
    // The executor starts again before it sees the join, and nothing is left out any more from then on.
    let isLate = subscribers.isRestarting.load(ordering: .acquiring)
    append(.join(listening, subscribers, isLate: isLate), to: subscribers.queue)
    // Who found the namespace just before it went comes behind those who were told; nothing will ever happen there.
    if forgotten.contains(listening.request.namespace) {
      return append(.end(subscribers, .namespaceForgotten), to: subscribers.queue)
    }
    wait(listening, generation: 0)
  }

  private mutating func leave(_ listening: Listening) {
    counters.listens.subtract(1, ordering: .relaxed)
    guard let group = listening.group else { return }
    listening.group = nil
    group.waiting.removeAll { $0.listening === listening }
    guard let subscribers = group.remove(listening) else { return }
    append(.leave(listening, subscribers), to: subscribers.queue)
    if group.isGone { table.remove(group) }
  }

  private mutating func wait(_ listening: Listening, generation: Int) {
    guard let group = listening.group else { return }
    group.waiting.append(LoadJob.Waiter(listening: listening, generation: generation))
    if group.waiting.count == 1 { thirsty.append(group) }
  }

  /// One read serves all that wait. Who comes while it goes on waits for the next: its commits began later.
  private func read(_ group: ListenGroup) {
    guard !group.isReading, !group.waiting.isEmpty else { return }
    group.isReading = true
    let generation = group.window.flatMap { $0.isLive ? nil : $0.generation }
    reader.push(
      LoadJob(
        group: group, namespace: group.namespace, path: group.path, query: group.query, format: group.format,
        waiters: group.waiting, windowGeneration: generation))
    group.waiting = []
  }

  private mutating func loaded(_ result: LoadResult, snapshot: any Snapshot) {
    let group = result.group
    group.isReading = false
    guard !group.isGone else { return }
    var isFilled = true
    if let window = group.window, !window.isLive {
      isFilled = fill(window, of: group, read: result.window, snapshot: snapshot)
    }
    for (waiter, outcome) in result.outcomes {
      // What waits for a window that could not be filled waits on; but what failed, failed.
      if !isFilled, case .read = outcome {
        group.waiting.append(waiter)
      } else {
        append(.load(waiter.listening, generation: waiter.generation, outcome), to: waiter.listening.listener.queue)
      }
    }
    read(group)
  }

  /// Puts what was read into a window, and tells the commits that came meanwhile.
  ///
  /// Before the snapshots are handed over: who gets one then has the commits behind it in its hands.
  private mutating func fill(
    _ window: ListenWindow, of group: ListenGroup, read: LoadResult.Window?, snapshot: any Snapshot
  ) -> Bool {
    guard let read, read.generation == window.generation else { return false }
    guard let pending = window.fill(read) else {
      window.reset()
      return false
    }
    for (commit, range) in pending { tell(group, view: view(of: commit, snapshot: snapshot), range: range, isLate: true) }
    return true
  }
}
