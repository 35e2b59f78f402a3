import FunctionsKit
import StorageCore
import TreeModel

/// What the dispatcher knows of runs on the writer: those whose events it has not taken in yet, and the ordering keys under
/// which an event is on its way to a thread, so that no later one may overtake it on the writer.
struct InlineTable {
  /// A look at the runs on the writer, for one that never ends.
  enum Watch {
    case none
    /// A timer is set.
    case set
    /// The timer has fired.
    case due
  }

  /// A commit.
  struct CommitKey: Hashable {
    let namespace: NamespaceID
    let revision: Revision
  }

  /// Runs by the commit of their event, until the dispatcher takes that in.
  private var runs: [CommitKey: [InlineRun]] = [:]
  /// The last event of an ordering key that the writer left to the threads, as long as the dispatcher may not have taken it in.
  private var pending: [OrderingKey: Revision] = [:]
  /// Keys that went on behind a skipped run whose record is not durable yet: how many such records each has. No effect behind
  /// that run may overtake its record.
  private var unrecorded: [OrderingKey: Int] = [:]
  /// Up to here events of a namespace may have gone by unseen.
  private var unseen: [NamespaceID: Revision] = [:]
  var watch = Watch.none

  /// Whether nothing is kept; then it costs nothing.
  var isEmpty: Bool { runs.isEmpty && pending.isEmpty && unseen.isEmpty }

  // MARK: Order

  /// Leaves an event to the threads: later ones of its key must not overtake it.
  ///
  /// - `capacity`: of so many keys it is known; beyond that all have to wait.
  mutating func leave(_ revision: Revision, of key: OrderingKey, capacity: Int) {
    if pending.count >= capacity, pending[key] == nil {
      for (key, revision) in pending { unseen[key.namespace] = max(unseen[key.namespace] ?? .zero, revision) }
      pending = [:]
    }
    pending[key] = revision
  }

  /// Leaves a whole commit to the threads.
  mutating func leave(_ revision: Revision, in namespace: NamespaceID) {
    unseen[namespace] = max(unseen[namespace] ?? .zero, revision)
  }

  /// Whether no event of the key is on its way to the dispatcher.
  mutating func isIdle(_ key: OrderingKey, tracker: SettlementTracker) -> Bool {
    if let revision = unseen[key.namespace] {
      guard tracker.hasAbsorbed(revision) else { return false }
      unseen[key.namespace] = nil
    }
    guard unrecorded[key] == nil else { return false }
    guard let revision = pending[key] else { return true }
    guard tracker.hasAbsorbed(revision) else { return false }
    pending[key] = nil
    return true
  }

  /// The record of a skipped run of a key is kept until something else is sent.
  mutating func expectRecord(of key: OrderingKey) { unrecorded[key, default: 0] += 1 }

  /// The record is durable, or will never be.
  mutating func noteRecord(of key: OrderingKey?) {
    guard let key, let count = unrecorded[key] else { return }
    unrecorded[key] = count > 1 ? count - 1 : nil
  }

  /// The dispatcher has taken in an event for a key.
  mutating func noteAbsorbed(_ revision: Revision, of key: OrderingKey?) {
    guard !pending.isEmpty, let key, let last = pending[key], last <= revision else { return }
    pending[key] = nil
  }

  // MARK: Runs

  /// Keeps what became of a run until the dispatcher takes in its event.
  mutating func add(_ run: InlineRun) {
    runs[CommitKey(namespace: run.delivery.namespace, revision: run.delivery.event.revision), default: []].append(run)
  }

  /// Takes out the run of an event by a function.
  mutating func take(_ event: EventID, by function: Int, in namespace: NamespaceID) -> InlineRun? {
    guard !runs.isEmpty else { return nil }
    let key = CommitKey(namespace: namespace, revision: event.revision)
    guard let index = runs[key]?.firstIndex(where: { $0.delivery.function == function && $0.delivery.event == event }) else {
      return nil
    }
    let run = runs[key]?.remove(at: index)
    if runs[key]?.isEmpty == true { runs[key] = nil }
    return run
  }

  /// Drops everything of a namespace that does not exist any more.
  mutating func forget(_ namespace: NamespaceID) {
    runs = runs.filter { $0.key.namespace != namespace }
    pending = pending.filter { $0.key.namespace != namespace }
    unrecorded = unrecorded.filter { $0.key.namespace != namespace }
    unseen[namespace] = nil
  }
}

extension SettlementTracker {
  /// Whether all events of a revision were taken in.
  fileprivate func hasAbsorbed(_ revision: Revision) -> Bool {
    absorbed.path == nil ? revision < absorbed.revision : revision <= absorbed.revision
  }
}

/// A run on the writer, as the dispatcher hears of it once its event is durable.
struct InlineRun: Sendable {
  enum Ending: Sendable {
    /// Its effect was judged right after the event's commit, in the same batch.
    case accepted(ExecutionRecord, CommitReceipt)
    /// The writer did not take its effect.
    case refused(ExecutionRecord, CommitError)
    /// It failed.
    case failed(String, RunEnding.NextAttempt, startedAt: Int64)
  }

  var delivery: Delivery
  let ending: Ending
}

/// What the writer may do with a commit's events.
struct InlineAdmission {
  /// What is to be run at once, in order.
  var deliveries: [Delivery] = []
  /// Whether these are all that its events are for.
  var isWhole = true
  /// What is settled by now, to be stored with an effect; nil if that was stored.
  var settledRevision: Revision?
  /// Whether the timer task has to be woken.
  var startsTimer = false
}

extension DispatchState {
  /// Decides which of a commit's events are run on the writer; the others are left to the threads, and hold back later events of
  /// their keys. Called on the writer, when the commit was judged and nothing else was.
  ///
  /// - `capacity`: how many may be run.
  /// - `busy`: keys of runs whose effects are not judged yet; those of the admitted are added.
  mutating func admitInline(_ committed: CommittedRequest, capacity: Int, busy: inout Set<OrderingKey>) -> InlineAdmission {
    let (namespace, revision) = (committed.request.namespace, committed.receipt.revision)
    var admission = InlineAdmission()
    guard let known = namespaces[namespace], !known.isLagging, !known.isLoading, isServing else {
      inline.leave(revision, in: namespace)
      admission.isWhole = false
      return admission
    }
    let mayRun = quarantine.isEmpty && aloneRun == nil
    let commit = EventFacts.Commit(
      time: committed.receipt.time, actor: committed.request.actor, changes: committed.changes)
    for event in committed.receipt.events {
      guard let path = event.id.path.path else { continue }
      let wanting = wanting(event, change: committed.changes.change(at: event.id.path))
      if wanting.isEmpty { admission.isWhole = false }
      for function in wanting {
        let definition = table.definitions[function]
        let captures = definition.pattern.match(path)?.map(\.value)
        // Who knows no order need not be kept in it, and who never runs here overtakes nobody: they run on threads.
        guard definition.options.inline == .whenShort,
          let key = OrderingKey(function, definition, in: namespace, captures: captures)
        else {
          admission.isWhole = false
          continue
        }
        let isIdle =
          mayRun && functions[function].pace.isInline && functions[function].phase == .active && !busy.contains(key)
          && queue.isFree(key) && inline.isIdle(key, tracker: known.tracker)
        if isIdle, admission.deliveries.count < capacity {
          busy.insert(key)
          let facts = EventFacts(record: event, path: path, commit: commit)
          admission.deliveries.append(
            Delivery(facts, to: function, captures: captures, orderingKey: key, root: facts.revision))
        } else {
          inline.leave(revision, of: key, capacity: options.eventsMax)
          admission.isWhole = false
        }
      }
    }
    guard !admission.deliveries.isEmpty else { return admission }
    prepare(&admission, in: namespace)
    return admission
  }

  private mutating func prepare(_ admission: inout InlineAdmission, in namespace: NamespaceID) {
    if let known = namespaces[namespace], known.watermark > known.sentWatermark {
      admission.settledRevision = known.watermark
      namespaces[namespace]?.sentWatermark = known.watermark
    }
    if case .none = inline.watch { admission.startsTimer = true }
  }

  /// Takes note of what became of runs on the writer. Those that were dropped are left to the threads.
  mutating func note(_ runs: [InlineRun], dropped: [Delivery]) {
    for run in runs {
      if case .accepted = run.ending {
        functions[run.delivery.function].counts.inline += 1
      } else {
        leave(run.delivery)
      }
      inline.add(run)
    }
    for delivery in dropped { leave(delivery) }
  }

  private mutating func leave(_ delivery: Delivery) {
    guard let key = delivery.orderingKey else { return }
    inline.leave(delivery.event.revision, of: key, capacity: options.eventsMax)
  }

  /// Takes note of an event that was found in storage, with what became of it on the writer.
  mutating func noteFound(_ event: LoadedEvent) {
    let id = event.facts.record.id
    for function in event.handled(by: table) {
      guard let run = inline.take(id, by: function, in: event.facts.namespace),
        case .accepted(let execution, let receipt) = run.ending
      else { continue }
      count(execution, of: function)
      guard !receipt.events.isEmpty, let root = namespaces[event.facts.namespace]?.tracker.root(of: id.revision) else {
        continue
      }
      namespaces[event.facts.namespace]?.tracker.expect(receipt.revision, root: root)
    }
  }

  /// Takes in what became of a run on the writer: its event is durable now, and so is its effect, which was in the same batch.
  mutating func conclude(_ run: InlineRun, of delivery: Delivery, at now: Int64) {
    switch run.ending {
    case .accepted(let execution, let receipt):
      finish(Delivery(delivery, orderingKey: nil), execution: execution, receipt: receipt)
    case .refused(let execution, let refusal):
      guard queue.admit(delivery, to: delivery.orderingKey) else { return }
      refuse(delivery, execution: execution, refusal: refusal, at: now)
    case .failed(let error, let failure, let startedAt):
      guard queue.admit(delivery, to: delivery.orderingKey) else { return }
      fail(delivery, error: error, failure: failure, startedAt: startedAt, at: now)
    }
  }

  // MARK: The watch

  /// Has somebody look at the writer after a time, in milliseconds.
  mutating func watchWriter(after delay: Int64, at now: Int64) {
    inline.watch = .set
    timers.add(.watch, at: now + delay)
    wake(by: now + delay)
  }

  /// Looks at the writer, if it is time.
  ///
  /// - `stall`: for how many milliseconds the run that is under way has not used its context; nil if none is.
  /// - Returns: whether that is too long.
  mutating func lookAtWriter(_ stall: Int64?, at now: Int64) -> Bool {
    guard case .due = inline.watch else { return false }
    inline.watch = .none
    guard let stall else { return false }
    let isTooLong = stall >= options.inline.stallMax
    watchWriter(after: isTooLong ? options.inline.stallMax : options.inline.stallMax - stall, at: now)
    return isTooLong
  }
}
