public import StorageCore
import Synchronization
import TreeModel

/// The way to the tree: every write goes through its one queue, and one thread.
///
/// Requests that wait while a batch is on its way to the disk make the next batch: they share one transaction and one
/// fsync. Nothing that was judged on a batch leaves before the batch is durable: no receipt, no push, and no refusal.
/// When the disk refuses a batch the writer stops for good: what the file holds is then not known, and an
/// fsync that failed is never repeated. ``failure`` says why, and every later request is refused as unavailable.
public final class Database: TreeWriter {
  typealias WriterTask = @Sendable (any WriteSession) throws(StorageError) -> Void

  enum Work {
    // Boxed, because a request is large, and a copy would count references to each of its parts.
    indirect case commit(CommitRequest, @Sendable (Result<CommitReceipt, CommitError>) -> Void)
    case open(String, @Sendable (Result<NamespaceID, CommitError>) -> Void)
    /// Something of the server's own, put into the batch beside the requests.
    case task(WriterTask, completion: @Sendable (Result<Void, CommitError>) -> Void)
    case forget(NamespaceID, @Sendable (Result<Void, CommitError>) -> Void)
    case rehearse([CommitRequest], @Sendable ([Result<CommittedRequest, CommitError>]) -> Void)
    /// The batch before is durable and told.
    case flushed
    /// Nobody may have written for a while: what the writer keeps of the store is given back.
    case releaseMemory
  }

  /// The store, for looking; only the database writes to it.
  public let engine: any StorageEngine
  /// Where the times of commits come from.
  public let clock: any WallClock
  /// How much one commit may do, and how many may wait.
  public let limits: WriteLimits

  /// Reads nodes and windows of queries from the store's snapshots.
  public let reader: TreeReader
  /// The rules and indexes of all namespaces.
  public let catalog: IndexCatalog

  /// Who prunes or erases: one at a time.
  public let maintenanceTurn = MaintenanceTurn()

  /// How the writer fares, for the metrics.
  package let statistics = WriterStatistics()

  private let queue: WriterQueue<Work>
  let indexBuilder: IndexBuilder
  /// Nil where others write the store.
  private let checkpointer: Checkpointer?
  private let names: Mutex<[String: NamespaceID]>
  private let flusher: BatchFlusher
  private let threads = Mutex<[BlockingThread]>([])

  /// Starts the writer.
  ///
  /// - `participants`: asked in order for every request.
  /// - `observers`: told, in order, of every batch that is durable.
  /// - `inline`: runs short functions on the writer; nil where none do.
  /// - `didStop`: told once if the writer stops for good, on its thread.
  public init(
    engine: any StorageEngine, participants: [any CommitParticipant], observers: [any CommitObserver] = [],
    limits: WriteLimits = WriteLimits(), clock: any WallClock, inline: (any InlineRunning)? = nil,
    didStop: @escaping @Sendable (StorageError) -> Void = { _ in }
  ) throws(StorageError) {
    self.engine = engine
    self.clock = clock
    self.limits = limits
    queue = WriterQueue(capacity: limits.queueMax)
    let checkpointer = Checkpointer(engine: engine)
    self.checkpointer = checkpointer
    let known = try engine.read { (snapshot) throws(StorageError) in try snapshot.namespaces() }
    names = Mutex(Self.names(of: known))
    catalog = try IndexCatalog(engine)
    reader = TreeReader(catalog: catalog)
    indexBuilder = IndexBuilder(queue: queue, catalog: catalog)
    let session = try engine.makeWriteSession()
    let queue = queue
    flusher = BatchFlusher(
      observers: observers, checkpointer: checkpointer, statistics: statistics, didStop: didStop
    ) {
      queue.pushFirst(.flushed)
    }
    let loop = WriterLoop(
      session: session,
      pipeline: WritePipeline(
        participants: participants + [IndexParticipant(catalog: catalog)], limits: limits, clock: clock, catalog: catalog),
      flusher: flusher, inline: inline)
    // The loop is made here and used by the writer's thread alone from now on; of the session in it the flusher's thread
    // uses what the session offers to another thread.
    let box = UnsafeTransfer(loop)
    let writer = BlockingThread {
      var loop = box.value
      loop.run(queue)
    }
    let flushing = BlockingThread { [flusher] in flusher.run(box.value.session) }
    threads.withLock { $0 = [writer, flushing] }
    for record in known where catalog.rules(of: record.id) != nil { indexBuilder.schedule(record.id) }
  }

  /// The tree of a store that others write: it is looked at as it is, and every write is refused. Without threads.
  ///
  /// The rules and the indexes are those of now; when they change, a database is made again.
  ///
  /// - `reason`: what every write is refused with.
  public init(
    reading engine: any StorageEngine, limits: WriteLimits = WriteLimits(), clock: any WallClock,
    refusingWith reason: StorageError
  ) throws(StorageError) {
    self.engine = engine
    self.clock = clock
    self.limits = limits
    queue = WriterQueue(capacity: limits.queueMax)
    checkpointer = nil
    names = Mutex([:])
    catalog = try IndexCatalog(engine)
    reader = TreeReader(catalog: catalog)
    indexBuilder = IndexBuilder(queue: queue, catalog: catalog)
    flusher = BatchFlusher(stoppedFor: reason, statistics: statistics)
    queue.close()
    try readNames()
  }

  /// Finds the namespaces that others have made or forgotten since.
  public func readNames() throws(StorageError) {
    let known = try engine.read { (snapshot) throws(StorageError) in try snapshot.namespaces() }
    names.withLock { $0 = Self.names(of: known) }
  }

  private static func names(of known: [NamespaceRecord]) -> [String: NamespaceID] {
    Dictionary(uniqueKeysWithValues: known.map { ($0.name, $0.id) })
  }

  /// Why the writer stopped, if it did.
  public var failure: StorageError? { flusher.failure }

  /// How many requests wait for the writer.
  public var queueDepth: Int { queue.count }

  /// Gives back the memory in which pieces of the store are kept that nobody has used since the last call: called now and
  /// then, it lets an idle server be as small as it was at its start.
  public func releaseUnusedMemory() {
    engine.releaseUnusedMemory()
    _ = queue.push(.releaseMemory, isBounded: false)
  }

  /// The namespace of this name, if it exists.
  public func namespace(named name: String) -> NamespaceID? {
    names.withLock { $0[name] }
  }

  /// The namespace of this name, made if it does not exist.
  public func openNamespace(
    named name: String, completion: @escaping @Sendable (Result<NamespaceID, CommitError>) -> Void
  ) {
    if let known = namespace(named: name) { return completion(.success(known)) }
    guard NamespaceName.isLegal(name) else {
      return completion(
        .failure(
          CommitError(.invalid, "\"\(name.prefix(80))\" is no namespace's name: use 1-64 letters, digits and hyphens.")))
    }
    push(
      .open(name) { [self] result in
        if case .success(let id) = result { names.withLock { $0[name] = id } }
        completion(result)
      }
    ) { completion(.failure($0)) }
  }

  /// The namespace of this name, made if it does not exist; refused as `CommitError.Code.invalid` if the name is not
  /// legal.
  public func openNamespace(named name: String) async throws(CommitError) -> NamespaceID {
    try await withCheckedContinuation { continuation in
      openNamespace(named: name) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Forgets a namespace whole: tree, log, ledger, everything.
  public func forgetNamespace(named name: String) async throws(CommitError) {
    guard let id = namespace(named: name) else { return }
    let result: Result<Void, CommitError> = await withCheckedContinuation { continuation in
      push(
        .forget(id) { [self] result in
          if case .success = result {
            _ = names.withLock { $0.removeValue(forKey: name) }
            catalog.set(nil, of: id)
          }
          continuation.resume(returning: result)
        }
      ) { continuation.resume(returning: .failure($0)) }
    }
    try result.get()
  }

  public func submit(_ request: CommitRequest, completion: @escaping @Sendable (Result<CommitReceipt, CommitError>) -> Void) {
    push(.commit(request, completion)) { completion(.failure($0)) }
  }

  public func rehearse(
    _ requests: [CommitRequest],
    completion: @escaping @Sendable ([Result<CommittedRequest, CommitError>]) -> Void
  ) {
    push(.rehearse(requests, completion)) { error in completion(requests.map { _ in .failure(error) }) }
  }

  /// Finishes what is queued, refuses what comes later, and waits for the writer to end. The store stays open.
  public func shutDown() {
    queue.close()
    let ending = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    ending.first?.join()
    flusher.stop()
    ending.last?.join()
    checkpointer?.stop()
  }

  /// Puts something of the server's own into a batch.
  func run(_ task: @escaping WriterTask, completion: @escaping @Sendable (Result<Void, CommitError>) -> Void) {
    push(.task(task, completion: completion)) { completion(.failure($0)) }
  }

  private func push(_ work: Work, refuse: (CommitError) -> Void) {
    if let failure { return refuse(CommitError(failure)) }
    switch queue.push(work) {
    case .queued: return
    case .full:
      statistics.noteOverload()
      refuse(CommitError(.overloaded, "Too many writes are waiting; nothing was written. Try again in a moment."))
    case .closed:
      refuse(CommitError(.unavailable, "The server is shutting down; nothing was written. Try again in a moment."))
    }
  }
}

/// Carries a value that is not `Sendable` to the one thread that will own it.
///
/// `@unchecked Sendable`: made by one thread, which keeps no other reference, and read by another after the thread's
/// creation, which orders the two.
private struct UnsafeTransfer<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}
