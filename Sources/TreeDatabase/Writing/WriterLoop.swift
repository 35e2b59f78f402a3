import StorageCore
import TreeModel

/// What the writer's thread does: checks requests, writes them in batches, and hands each batch to the thread that flushes it.
///
/// While the disk works on one batch the next is judged, and grows: it is written when the one before is durable and told.
struct WriterLoop {
  let session: any WriteSession
  let pipeline: WritePipeline
  private let flusher: BatchFlusher
  private let inline: (any InlineRunning)?
  private var judged: [PendingCompletion] = []
  private var lastExpiry: Int64 = 0
  /// Whether anything was judged since memory was last asked for.
  private var wasUsed = false
  /// Namespaces that are gone. Their numbers are never given again, and they are few.
  private var forgotten: Set<NamespaceID> = []

  /// How often answers to keyed requests are looked through for old ones, in milliseconds.
  private static let expiryInterval: Int64 = 600_000

  init(session: any WriteSession, pipeline: WritePipeline, flusher: BatchFlusher, inline: (any InlineRunning)?) {
    self.inline = inline
    self.session = session
    self.pipeline = pipeline
    self.flusher = flusher
  }

  /// Works until the queue is closed and empty, and what was taken from it is told.
  mutating func run(_ queue: WriterQueue<Database.Work>) {
    let limits = pipeline.limits
    while let works = queue.take(max(1, limits.batchMax - judged.count)) {
      for work in works {
        take(work)
        guard judged.count >= limits.batchMax || session.pendingLeaves >= limits.batchLeavesMax else { continue }
        flusher.waitUntilIdle()
        endBatch()
      }
      endBatch()
    }
    flusher.waitUntilIdle()
    endBatch()
  }

  private mutating func take(_ work: Database.Work) {
    // After a failure nothing is judged: on what state?
    switch work {
    case .flushed, .releaseMemory: break
    case .commit, .open, .task, .forget, .rehearse: wasUsed = true
    }
    let one = if let failure = flusher.failure { refused(work, refusal: CommitError(failure)) } else { judge(work) }
    guard let one else { return }
    judged.append(one)
    if case .committed(let committed, _) = one { runFunctions(after: committed) }
  }

  /// Lets short functions run at once: their effects are the next commits of this batch.
  private mutating func runFunctions(after committed: CommittedRequest) {
    guard let inline, !committed.receipt.events.isEmpty else { return }
    inline.didJudge(committed, in: session) { request in
      let mark = session.mark()
      do throws(CommitError) {
        let effect = try accept(request)
        judged.append(.committed(effect) { _ in })
        return .success(effect)
      } catch {
        session.rollback(to: mark)
        return .failure(error)
      }
    }
  }

  /// Writes what was judged, unless the disk still works on the batch before: its end comes through the queue.
  private mutating func endBatch() {
    guard !judged.isEmpty, flusher.isIdleNow() else { return }
    expireAnswers()
    var failure = flusher.failure
    if failure == nil {
      do throws(StorageError) {
        try session.write()
      } catch {
        failure = error
      }
    }
    flusher.flush(judged, failure: failure)
    judged = []
  }

  private mutating func judge(_ work: Database.Work) -> PendingCompletion? {
    switch work {
    case .flushed: return nil
    case .releaseMemory:
      if !wasUsed, judged.isEmpty { session.releaseMemory() }
      wasUsed = false
      return nil
    case .commit(let request, let completion):
      let mark = session.mark()
      do throws(CommitError) {
        return .committed(try accept(request), completion)
      } catch {
        session.rollback(to: mark)
        return .refused(error, completion)
      }
    case .open(let name, let completion):
      do throws(StorageError) {
        guard let id = try session.namespace(named: name, creatingAt: pipeline.clock.now()) else {
          return .opened(.failure(CommitError(.unavailable, "The namespace \(name) could not be made.")), completion)
        }
        return .opened(.success(id), completion)
      } catch {
        return .opened(.failure(CommitError(error)), completion)
      }
    case .task(let task, let completion):
      let mark = session.mark()
      do throws(StorageError) {
        try task(session)
        return .done(completion)
      } catch {
        session.rollback(to: mark)
        return .refused(CommitError(error)) { completion($0.map { _ in }) }
      }
    case .forget(let namespace, let completion):
      session.remove(namespace)
      forgotten.insert(namespace)
      return .forgotten(namespace, completion)
    case .rehearse(let requests, let completion): return .rehearsed(rehearse(requests), completion)
    }
  }

  /// Checks a request. What was on its way to a namespace when that was forgotten must not begin it again under a number that
  /// nobody finds.
  ///
  /// The engine's notes of its own work go there as before: their authors repeat them until they are taken.
  private func accept(_ request: CommitRequest) throws(CommitError) -> CommittedRequest {
    guard !request.isContent || !forgotten.contains(request.namespace) else {
      throw CommitError(
        .unavailable, "The database was deleted, and nothing was written. Make it again if it is still needed, and repeat.")
    }
    return try pipeline.accept(request, in: session)
  }

  /// Judges requests one on top of the other, and takes all of it back.
  private func rehearse(_ requests: [CommitRequest]) -> [Result<CommittedRequest, CommitError>] {
    let start = session.mark()
    defer { session.rollback(to: start) }
    return requests.map { request in
      let mark = session.mark()
      do throws(CommitError) {
        return .success(try accept(request))
      } catch {
        session.rollback(to: mark)
        return .failure(error)
      }
    }
  }

  private func refused(_ work: Database.Work, refusal: CommitError) -> PendingCompletion? {
    switch work {
    case .commit(_, let completion): .refused(refusal, completion)
    case .open(_, let completion): .opened(.failure(refusal), completion)
    case .task(_, let completion): .refused(refusal) { completion($0.map { _ in }) }
    case .forget(_, let completion): .refused(refusal) { completion($0.map { _ in }) }
    case .rehearse(let requests, let completion): .rehearsed(requests.map { _ in .failure(refusal) }, completion)
    case .flushed, .releaseMemory: nil
    }
  }

  private mutating func expireAnswers() {
    let now = pipeline.clock.now()
    guard now - lastExpiry >= Self.expiryInterval else { return }
    lastExpiry = now
    session.removeIdempotency(expiredAt: now)
  }
}

extension CommitRequest {
  /// Whether it changes what a namespace holds, and is not only a note of the engine's own work.
  fileprivate var isContent: Bool {
    !operations.isEmpty || !ledger.transfers.isEmpty || !rows.records.isEmpty || decision != nil
  }
}

/// What became of one piece of the writer's work, to be told once its batch is durable.
enum PendingCompletion: Sendable {
  case committed(CommittedRequest, @Sendable (Result<CommitReceipt, CommitError>) -> Void)
  case refused(CommitError, @Sendable (Result<CommitReceipt, CommitError>) -> Void)
  case opened(Result<NamespaceID, CommitError>, @Sendable (Result<NamespaceID, CommitError>) -> Void)
  case forgotten(NamespaceID, @Sendable (Result<Void, CommitError>) -> Void)
  case rehearsed([Result<CommittedRequest, CommitError>], @Sendable ([Result<CommittedRequest, CommitError>]) -> Void)
  case done(@Sendable (Result<Void, CommitError>) -> Void)

  /// Hands out the answer. After a batch that failed everything that was judged on it is refused: also what was going to be
  /// refused, for it was judged on a state that does not exist.
  func tell(failure: StorageError?) {
    switch self {
    case .committed(let committed, let completion):
      completion(failure.map { .failure(CommitError($0)) } ?? .success(committed.receipt))
    case .refused(let refusal, let completion):
      completion(.failure(failure.map { CommitError($0) } ?? refusal))
    case .opened(let result, let completion):
      completion(failure.map { .failure(CommitError($0)) } ?? result)
    case .rehearsed(let results, let completion):
      completion(failure.map { error in results.map { _ in .failure(CommitError(error)) } } ?? results)
    case .forgotten(_, let completion), .done(let completion):
      completion(failure.map { .failure(CommitError($0)) } ?? .success(()))
    }
  }
}
