import FunctionsKit
import Logging
package import StorageCore
import Synchronization
import TreeModel

/// Runs short functions on the writer, right after their event's commit was judged: one after the other, in place.
///
/// `@unchecked Sendable`: what changes is touched only within `Dispatcher/didJudge(_:in:commit:)`, which the writer calls, one
/// call at a time.
final class InlineRunner: @unchecked Sendable {
  /// How a run on the writer ended.
  enum Ending {
    case ended(RunEnding)
    /// To be repeated on a thread, as if nothing had happened. `isFault` if the function is not short after all; otherwise
    /// the machine held it up.
    case dropped(isFault: Bool)
  }

  let watch = InlineWatch()
  let strays = StrayThread()
  private let notes: CrashNotes?
  private let options: DispatcherOptions
  private var executor: InlineExecutor

  init(notes: CrashNotes?, options: DispatcherOptions) {
    self.notes = notes
    self.options = options
    executor = InlineExecutor(strays: strays)
  }

  /// Runs a function.
  ///
  /// - `conclude`: makes a request of what the run asked for.
  /// - Returns: how it ended, and for how many nanoseconds it computed: a busy machine makes no function long. `Int64.max` if
  ///   that was too long.
  func run(
    _ delivery: Delivery, _ definition: FunctionDefinition, namespace: String, session: any CommitSession, at now: Int64,
    conclude: (Outcome, RunInput) throws -> RunEnding
  ) -> (Ending, nanoseconds: Int64) {
    guard let commit = delivery.facts.commit else { preconditionFailure("An event on the writer has its commit.") }
    let computed = options.inline.meter.threadTime()
    let reader = SessionRunReader(
      session, of: delivery.namespace, changes: commit.changes ?? [], options: options, now: now, watch: watch)
    defer {
      reader.drop()
      watch.clear()
    }
    let ending: Ending
    do {
      let input = try RunInput(delivery, definition, commit: commit, namespace: namespace, reader: reader)
      options.failpoint(.inHandler)
      ending = try perform(definition, input, reader: reader, conclude: conclude)
    } catch {
      ending = reader.isDropped ? .dropped(isFault: true) : .ended(Dispatcher.failure(of: error))
    }
    let time = options.inline.meter.threadTime() - computed
    guard reader.isOverdue else { return (ending, time) }
    // It took too long. Whose fault is it: did it compute, or wait for the processor?
    let isFault = time > options.inline.budget
    if case .dropped = ending { return (.dropped(isFault: isFault), time) }
    return (ending, isFault ? .max : time)
  }

  private func perform(
    _ definition: FunctionDefinition, _ input: RunInput, reader: SessionRunReader,
    conclude: (Outcome, RunInput) throws -> RunEnding
  ) throws -> Ending {
    let (body, run, context) = (definition.body, input.run, input.context)
    let result = executor.run(isOver: { reader.isOverdue }) { try await body(run, context) }
    guard let result else {
      // What comes back of it later finds this executor closed, and its context used up.
      context.abandon()
      executor = InlineExecutor(strays: strays)
      return .dropped(isFault: true)
    }
    if reader.isDropped {
      context.abandon()
      return .dropped(isFault: true)
    }
    switch result {
    case .success(let outcome): return .ended(try conclude(outcome, input))
    case .failure(let error):
      context.abandon()
      throw error
    }
  }

  // MARK: Notes

  /// Notes a run before it begins: if the process dies in it, the next one knows of which function, and for which commit.
  func note(_ delivery: Delivery, function: String, commitHash: [UInt8]) {
    guard let notes else { return }
    notes.write(
      CrashNote(namespace: delivery.namespace, event: delivery.event, function: function, commitHash: commitHash),
      to: notes.inlineSlot)
  }

  /// No run is under way.
  func clearNote() {
    guard let notes else { return }
    notes.clear(notes.inlineSlot)
  }

  /// Ends the process, because a run on the writer does not come back. The note of the run stays.
  func endProcess(_ logger: Logger) {
    // A developer who looks at the run may take as long as it takes.
    guard !Debugger.isAttached else { return }
    let message =
      "A function computes on the writer for more than \(options.inline.stallMax) ms without using its context, and holds up "
      + "every write. The process ends; the next one names the function and runs it on a thread."
    logger.critical("\(message)")
    options.inline.endProcess(message)
  }
}

// MARK: - The writer's side of the dispatcher

extension Dispatcher: InlineRunning {
  package func didJudge(
    _ committed: CommittedRequest, in session: any CommitSession,
    commit: (CommitRequest) -> Result<CommittedRequest, CommitError>
  ) {
    guard options.inline.isEnabled else { return }
    var turn = InlineTurn(dispatcher: self, session: session, capacity: options.inline.runsMax)
    turn.run(after: committed, commit: commit)
    turn.finish()
  }

  /// Sees to it that a run which does not come back is noticed.
  fileprivate func watchWriter() {
    let now = clock.now()
    let rings = state.withLock { state in
      state.watchWriter(after: options.inline.stallMax, at: now)
      defer { state.actions.startsTimer = false }
      return state.actions.startsTimer
    }
    if rings { alarm.ring() }
  }

  /// The record of a run that had nothing to do, and the request that brings it into the event's batch.
  fileprivate func skipping(_ delivery: Delivery, because reason: String) -> (CommitRequest, ExecutionRecord) {
    let now = clock.now()
    let execution = table.skipped(delivery, because: reason, startedAt: now, finishedAt: now)
    var request = CommitRequest(namespace: delivery.namespace, actor: .system("triggers"))
    request.triggers.execution = execution
    return (request, execution)
  }

  /// What a run on the writer is given, and what becomes of it.
  fileprivate func runInline(_ delivery: Delivery, namespace: String, session: any CommitSession) -> (
    InlineRunner.Ending, nanoseconds: Int64
  ) {
    let definition = table.definitions[delivery.function]
    let now = clock.now()
    return inlineRunner.run(delivery, definition, namespace: namespace, session: session, at: now) { outcome, input in
      try conclude(outcome, of: input, delivery: delivery, definition: definition, startedAt: now)
    }
  }
}

/// What follows one commit on the writer: the runs for its events, then their effects, and for the events of each effect the
/// same before the next effect. So every run reads the tree of its event's commit.
private struct InlineTurn {
  let dispatcher: Dispatcher
  let session: any CommitSession
  /// How many runs are left.
  var capacity: Int
  /// Ordering keys of runs whose effects were not accepted.
  var busy: Set<OrderingKey> = []
  private var runs: [InlineRun] = []
  private var dropped: [Delivery] = []
  private var samples: [(function: Int, nanoseconds: Int64?)] = []
  private var quiet: [InlineTable.CommitKey] = []

  init(dispatcher: Dispatcher, session: any CommitSession, capacity: Int) {
    self.dispatcher = dispatcher
    self.session = session
    self.capacity = capacity
  }

  mutating func run(after committed: CommittedRequest, commit: (CommitRequest) -> Result<CommittedRequest, CommitError>) {
    let namespace = committed.request.namespace
    // A name that nobody has asked for cannot be looked up here: a look waits for the disk.
    let name = dispatcher.knownName(of: namespace)
    let capacity = name == nil ? 0 : capacity
    var admission = dispatcher.state.withLock { $0.admitInline(committed, capacity: capacity, busy: &busy) }
    guard let name, let first = admission.deliveries.first else { return }
    self.capacity -= admission.deliveries.count
    if admission.startsTimer { dispatcher.watchWriter() }
    let hash = (try? session.head(of: first.namespace).commitHash) ?? []
    var asked: [(Delivery, CommitRequest, ExecutionRecord)] = []
    for var delivery in admission.deliveries {
      dispatcher.inlineRunner.note(
        delivery, function: dispatcher.table.definitions[delivery.function].name, commitHash: hash)
      let (ending, time) = dispatcher.runInline(delivery, namespace: name, session: session)
      guard let (request, execution, leavesOut) = take(ending, of: delivery, time: time) else { continue }
      delivery.leavesOutPaid = leavesOut
      asked.append((delivery, request, execution))
    }
    dispatcher.inlineRunner.clearNote()
    var isQuiet = admission.isWhole && asked.count == admission.deliveries.count
    for (delivery, request, execution) in asked {
      var request = request
      request.triggers.settledRevision = admission.settledRevision.take()
      if !judge(request, of: delivery, execution, commit: commit) { isQuiet = false }
    }
    if isQuiet { quiet.append(InlineTable.CommitKey(namespace: namespace, revision: committed.receipt.revision)) }
  }

  /// Tells the dispatcher what happened, before the batch is on its way to the disk.
  func finish() {
    guard !samples.isEmpty else { return }
    dispatcher.state.withLock { state in
      for (function, time) in samples {
        guard let time else {
          state.functions[function].pace.demote()
          continue
        }
        state.functions[function].time.add(time)
        state.functions[function].pace.noteInline(time)
      }
      state.note(runs, dropped: dropped)
    }
    for commit in quiet { dispatcher.inbox.expectQuiet(commit) }
  }

  /// Takes note of how a run ended.
  ///
  /// - Returns: what it asks for; nil if there is nothing to judge.
  private mutating func take(_ ending: InlineRunner.Ending, of delivery: Delivery, time: Int64) -> (
    CommitRequest, ExecutionRecord, leavesOutPaid: Bool
  )? {
    var isFault = time == .max
    defer { samples.append((delivery.function, isFault ? nil : time)) }
    switch ending {
    case .dropped(let fault):
      isFault = fault
      dropped.append(delivery)
      return nil
    case .ended(.failed(let error, let failure)):
      runs.append(
        InlineRun(delivery: delivery, ending: .failed(error, failure, startedAt: dispatcher.clock.now())))
      return nil
    case .ended(.skipped(let reason)):
      let (request, execution) = dispatcher.skipping(delivery, because: reason)
      return (request, execution, false)
    case .ended(.effect(let request, let execution, let leavesOutPaid)): return (request, execution, leavesOutPaid)
    }
  }

  /// Judges an effect, and lets the functions run that it causes.
  ///
  /// - Returns: whether it was accepted.
  private mutating func judge(
    _ request: CommitRequest, of delivery: Delivery, _ execution: ExecutionRecord,
    commit: (CommitRequest) -> Result<CommittedRequest, CommitError>
  ) -> Bool {
    dispatcher.options.failpoint(.effectSubmitted)
    switch commit(request) {
    case .success(let effect):
      dispatcher.options.failpoint(.effectJudged)
      if let key = delivery.orderingKey { busy.remove(key) }
      runs.append(InlineRun(delivery: delivery, ending: .accepted(execution, effect.receipt)))
      if !effect.receipt.events.isEmpty { run(after: effect, commit: commit) }
      return true
    case .failure(let refusal):
      runs.append(InlineRun(delivery: delivery, ending: .refused(execution, refusal)))
      return false
    }
  }
}
