public import StorageCore
import Synchronization
import TreeModel

/// The door to the tree: every write goes through its one queue, and one thread.
///
/// Requests that wait while a batch is on its way to the disk make the next batch: they share one transaction and one
/// fsync. Nothing that was judged on a batch leaves before the batch is durable: no receipt, no push, and no refusal.
/// When the disk refuses a batch the writer stops for good (design §4): what the file holds is then not known, and an
/// fsync that failed is never repeated. ``failure`` says why, and every later request is refused as unavailable.
public final class Database: TreeWriter {
  enum Work {
    case commit(CommitRequest, @Sendable (Result<CommitReceipt, CommitRefusal>) -> Void)
    case open(String, @Sendable (Result<NamespaceID, CommitRefusal>) -> Void)
    case forget(NamespaceID, @Sendable (Result<Void, CommitRefusal>) -> Void)
    case rehearse([CommitRequest], @Sendable ([Result<CommittedRequest, CommitRefusal>]) -> Void)
  }

  /// The store, for looking; writing to it is this door's alone.
  public let engine: any StorageEngine
  /// Where the times of commits come from.
  public let clock: any WallClock
  /// How much one commit may do, and how many may wait.
  public let limits: WriteLimits

  private let queue: WriterQueue<Work>
  private let checkpointer: Checkpointer
  private let names: Mutex<[String: NamespaceID]>
  private let failed = Mutex<StorageError?>(nil)
  private let threads = Mutex<[PlainThread]>([])

  /// Opens the door and starts the writer.
  ///
  /// - Parameters:
  ///   - participants: asked in order for every request.
  ///   - observers: told, in order, of every batch that is durable.
  public init(
    engine: any StorageEngine, participants: [any CommitParticipant], observers: [any CommitObserver] = [],
    limits: WriteLimits = WriteLimits(), clock: any WallClock
  ) throws(StorageError) {
    self.engine = engine
    self.clock = clock
    self.limits = limits
    queue = WriterQueue(capacity: limits.queueMax)
    checkpointer = Checkpointer(engine: engine)
    let known = try engine.read { (snapshot) throws(StorageError) in try snapshot.namespaces() }
    names = Mutex(Dictionary(uniqueKeysWithValues: known.map { ($0.name, $0.id) }))
    let session = try engine.makeWriteSession()
    let loop = WriterLoop(
      session: session, pipeline: WritePipeline(participants: participants, limits: limits, clock: clock), observers: observers)
    let queue = queue
    let checkpointer = checkpointer
    // The loop and the session in it are made here and used by the writer's thread alone from now on.
    let box = Handover(loop)
    let writer = PlainThread { [weak self] in
      var loop = box.value
      while let batch = queue.take(limits.batchMax) {
        if let error = loop.run(batch) { self?.stop(because: error) }
        checkpointer.didCommit(batch.count)
      }
    }
    threads.withLock { $0.append(writer) }
  }

  /// Why the writer stopped, if it did.
  public var failure: StorageError? { failed.withLock { $0 } }

  /// How many requests wait for the writer.
  public var queueDepth: Int { queue.count }

  /// The namespace of this name, if it exists.
  public func namespace(named name: String) -> NamespaceID? {
    names.withLock { $0[name] }
  }

  /// The namespace of this name, made if it does not exist.
  public func openNamespace(
    named name: String, completion: @escaping @Sendable (Result<NamespaceID, CommitRefusal>) -> Void
  ) {
    if let known = namespace(named: name) { return completion(.success(known)) }
    guard NamespaceName.isLegal(name) else {
      return completion(
        .failure(
          CommitRefusal(.invalid, "\"\(name.prefix(80))\" is no namespace's name: use 1-64 letters, digits and hyphens.")))
    }
    push(
      .open(name) { [self] result in
        if case .success(let id) = result { names.withLock { $0[name] = id } }
        completion(result)
      }
    ) { completion(.failure($0)) }
  }

  /// The namespace of this name, made if it does not exist; refused as ``CommitRefusal/Code/invalid`` if the name is not
  /// legal.
  public func openNamespace(named name: String) async throws(CommitRefusal) -> NamespaceID {
    try await withCheckedContinuation { continuation in
      openNamespace(named: name) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Forgets a namespace whole: tree, log, ledger, everything.
  public func forgetNamespace(named name: String) async throws(CommitRefusal) {
    guard let id = namespace(named: name) else { return }
    let result: Result<Void, CommitRefusal> = await withCheckedContinuation { continuation in
      push(
        .forget(id) { [self] result in
          if case .success = result { _ = names.withLock { $0.removeValue(forKey: name) } }
          continuation.resume(returning: result)
        }
      ) { continuation.resume(returning: .failure($0)) }
    }
    try result.get()
  }

  public func submit(_ request: CommitRequest, completion: @escaping @Sendable (Result<CommitReceipt, CommitRefusal>) -> Void) {
    push(.commit(request, completion)) { completion(.failure($0)) }
  }

  public func rehearse(
    _ requests: [CommitRequest],
    completion: @escaping @Sendable ([Result<CommittedRequest, CommitRefusal>]) -> Void
  ) {
    push(.rehearse(requests, completion)) { refusal in completion(requests.map { _ in .failure(refusal) }) }
  }

  /// Commits a request.
  ///
  /// - Returns: the receipt, once the commit is durable.
  public func commit(_ request: CommitRequest) async throws(CommitRefusal) -> CommitReceipt {
    try await withCheckedContinuation { continuation in
      submit(request) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Finishes what is queued, refuses what comes later, and waits for the writer to end. The store stays open.
  public func shutDown() {
    queue.close()
    for thread in threads.withLock({ threads in
      defer { threads = [] }
      return threads
    }) { thread.join() }
    checkpointer.stop()
  }

  private func push(_ work: Work, refuse: (CommitRefusal) -> Void) {
    if let failure { return refuse(CommitRefusal(failure)) }
    switch queue.push(work) {
    case .queued: return
    case .full: refuse(CommitRefusal(.overloaded, "Too many writes are waiting; nothing was written. Try again in a moment."))
    case .closed:
      refuse(CommitRefusal(.unavailable, "The server is shutting down; nothing was written. Try again in a moment."))
    }
  }

  private func stop(because error: StorageError) {
    failed.withLock { $0 = $0 ?? error }
  }
}

/// Carries a value that is not `Sendable` to the one thread that will own it.
///
/// `@unchecked Sendable`: made by one thread, which keeps no other reference, and read by another after the thread's
/// creation, which orders the two.
private struct Handover<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}
