import FunctionsKit
public import Logging
public import StorageCore
import Synchronization

/// Takes events to functions, and the functions' effects to the writer: at least once, with effects exactly once.
///
/// An event is noted when its commit is durable (``didCommit(_:)``, on the writer, which only takes note), waits in the lane
/// of its order key, is run on a thread of the dispatcher's own, and what the run asks for is committed as one request
/// together with the record that it ran. The writer refuses a second record for the same event and function, whatever led
/// to the second run: that, not any bookkeeping here, is what makes effects happen once. See <doc:ExactlyOnce>.
///
/// Make it before the database, whose observer it is; call ``start(writer:)`` before the doors open, then keep
/// ``run()`` going until the server stops.
public final class Dispatcher: CommitObserver, Sendable {
  /// The functions that it runs.
  public let table: TriggerTable
  /// What deadlines, retries and records go by.
  public let clock: any WallClock
  let engine: any StorageEngine
  let options: DispatcherOptions
  let logger: Logger
  let inbox: Inbox
  let alarm: Alarm
  let notes: CrashNotes?
  let state: Mutex<DispatchState>
  private let attachedWriter = Mutex<(any TreeWriter)?>(nil)
  private let names = Mutex<[NamespaceID: String]>([:])

  /// - Parameters:
  ///   - random: spreads the retries.
  /// - Throws: if the file of crash notes cannot be opened.
  public init(
    table: TriggerTable, engine: any StorageEngine, clock: any WallClock, options: DispatcherOptions = DispatcherOptions(),
    random: any RandomNumberGenerator & Sendable,
    logger: Logger = Logger(label: "doubloon.triggers")
  ) throws(StorageError) {
    self.table = table
    self.engine = engine
    self.clock = clock
    self.options = options
    self.logger = logger
    inbox = Inbox(capacity: options.eventsMax)
    alarm = Alarm(clock: clock)
    if let path = options.crashNotesPath { notes = try CrashNotes(path: path) } else { notes = nil }
    state = Mutex(DispatchState(table: table, options: options, notes: notes, random: random))
  }

  public func didCommit(_ batch: [CommittedRequest]) {
    inbox.add(batch)
  }

  /// Why the server should not be called ready: functions that the engine paused. Empty if all is well.
  public var unhealthyReasons: [String] {
    state.withLock { state in
      state.functions.filter { $0.phase == .paused && $0.isPausedByEngine }
        .map { "\($0.name) is \($0.pauseReason ?? "paused")." }
    }
  }

  /// What became of a function's runs since the process started; nil if there is no such function.
  public func counts(of function: String) -> FunctionCounts? {
    table.position(of: function).map { position in withState { $0.functions[position].counts } }
  }

  // MARK: The one way to the state

  /// Changes the state, with everything that the writer handed over taken in before, and then does what is left to be done.
  func withState<Result: Sendable>(_ body: (inout DispatchState) -> Result) -> Result {
    let now = clock.now()
    let (result, aftermath) = state.withLock { state in
      if let contents = inbox.take(backlog: state.lanes.count) { state.absorb(contents, at: now) }
      let result = body(&state)
      return (result, state.takeAftermath(at: now))
    }
    perform(aftermath)
    return result
  }

  private func perform(_ aftermath: Aftermath) {
    for submission in aftermath.submissions { submit(submission) }
    if aftermath.wakesRunner { inbox.wake() }
    if aftermath.ringsAlarm { alarm.ring() }
    for (waiter, isReady) in aftermath.released { waiter.resume(returning: isReady) }
    for waiter in aftermath.parked { waiter.resume() }
    aftermath.stopped?.resume()
    for (level, message) in aftermath.remarks { logger.log(level: level, message) }
  }

  // MARK: The writer

  var writer: any TreeWriter {
    guard let writer = attachedWriter.withLock(\.self) else {
      preconditionFailure("The dispatcher has no writer yet: call start(writer:) first.")
    }
    return writer
  }

  /// Whether the dispatcher was started.
  var hasWriter: Bool { attachedWriter.withLock { $0 != nil } }

  func attach(_ writer: any TreeWriter) {
    attachedWriter.withLock { $0 = writer }
  }

  func submit(_ submission: Submission) {
    if case .effect = submission.purpose { options.failpoint(.effectSubmitted) }
    let purpose = submission.purpose
    writer.submit(submission.request) { [self] result in inbox.add(result, of: purpose) }
  }

  /// Commits a request of the administration's and waits for it.
  func commit(_ request: CommitRequest) async throws(CommitRefusal) {
    let result = await withCheckedContinuation { continuation in
      writer.submit(request) { continuation.resume(returning: $0) }
    }
    _ = try result.get()
  }

  // MARK: Names

  /// The name of a namespace.
  func name(of namespace: NamespaceID) throws(StorageError) -> String {
    if let known = names.withLock({ $0[namespace] }) { return known }
    let stored = try engine.read { (snapshot) throws(StorageError) in try snapshot.namespaces() }
    return names.withLock { names in
      names = Dictionary(stored.map { ($0.id, $0.name) }) { $1 }
      return names[namespace] ?? "\(namespace.rawValue)"
    }
  }

  /// Drops what is known of a namespace that was forgotten.
  public func forget(_ namespace: NamespaceID) {
    names.withLock { $0[namespace] = nil }
    withState { $0.forget(namespace) }
  }
}
