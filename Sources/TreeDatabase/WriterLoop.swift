import StorageCore
import TreeModel

/// What the writer's thread does with one batch: judge each request, commit once, then tell everyone.
struct WriterLoop {
  let session: any WriteSession
  let pipeline: WritePipeline
  let observers: [any CommitObserver]

  private var failure: StorageError?
  private var lastExpiry: Int64 = 0

  /// How often answers to keyed requests are looked through for old ones, in milliseconds.
  private static let expiryInterval: Int64 = 600_000

  init(session: any WriteSession, pipeline: WritePipeline, observers: [any CommitObserver]) {
    self.session = session
    self.pipeline = pipeline
    self.observers = observers
  }

  /// What is to be told once the batch is durable.
  private enum Judged {
    case committed(CommitRequest, WritePipeline.Accepted, @Sendable (Result<CommitReceipt, CommitRefusal>) -> Void)
    case refused(CommitRefusal, @Sendable (Result<CommitReceipt, CommitRefusal>) -> Void)
    case opened(Result<NamespaceID, CommitRefusal>, @Sendable (Result<NamespaceID, CommitRefusal>) -> Void)
    case forgotten(@Sendable (Result<Void, CommitRefusal>) -> Void)
    case rehearsed(
      [Result<CommittedRequest, CommitRefusal>], @Sendable ([Result<CommittedRequest, CommitRefusal>]) -> Void)
  }

  /// - Returns: why the writer cannot go on, if it cannot.
  mutating func run(_ batch: [Database.Work]) -> StorageError? {
    if let failure {
      for work in batch { tell(refused(work, CommitRefusal(failure)), failure: nil) }
      return failure
    }
    var judged: [Judged] = []
    judged.reserveCapacity(batch.count)
    for work in batch { judged.append(judge(work)) }
    expireAnswers()
    do throws(StorageError) {
      try session.commit()
    } catch {
      failure = error
    }
    if failure == nil { notifyObservers(judged) }
    for one in judged { tell(one, failure: failure) }
    return failure
  }

  private func judge(_ work: Database.Work) -> Judged {
    switch work {
    case .commit(let request, let completion):
      let mark = session.mark()
      do throws(CommitRefusal) {
        return .committed(request, try pipeline.accept(request, in: session), completion)
      } catch {
        session.rollback(to: mark)
        return .refused(error, completion)
      }
    case .open(let name, let completion):
      do throws(StorageError) {
        guard let id = try session.namespace(named: name, creatingAt: pipeline.clock.now()) else {
          return .opened(.failure(CommitRefusal(.unavailable, "The namespace \(name) could not be made.")), completion)
        }
        return .opened(.success(id), completion)
      } catch {
        return .opened(.failure(CommitRefusal(error)), completion)
      }
    case .forget(let namespace, let completion):
      session.remove(namespace)
      return .forgotten(completion)
    case .rehearse(let requests, let completion): return .rehearsed(rehearse(requests), completion)
    }
  }

  /// Judges requests one on top of the other, and takes all of it back.
  private func rehearse(_ requests: [CommitRequest]) -> [Result<CommittedRequest, CommitRefusal>] {
    let start = session.mark()
    defer { session.rollback(to: start) }
    return requests.map { request in
      let mark = session.mark()
      do throws(CommitRefusal) {
        let accepted = try pipeline.accept(request, in: session)
        return .success(CommittedRequest(request: request, receipt: accepted.receipt, changes: accepted.changes))
      } catch {
        session.rollback(to: mark)
        return .failure(error)
      }
    }
  }

  private func refused(_ work: Database.Work, _ refusal: CommitRefusal) -> Judged {
    switch work {
    case .commit(_, let completion): .refused(refusal, completion)
    case .open(_, let completion): .opened(.failure(refusal), completion)
    case .forget(_, let completion): .refused(refusal) { completion($0.map { _ in }) }
    case .rehearse(let requests, let completion): .rehearsed(requests.map { _ in .failure(refusal) }, completion)
    }
  }

  private func notifyObservers(_ judged: [Judged]) {
    guard !observers.isEmpty else { return }
    var committed: [CommittedRequest] = []
    committed.reserveCapacity(judged.count)
    for case .committed(let request, let accepted, _) in judged where accepted.receipt.replayed == nil {
      committed.append(CommittedRequest(request: request, receipt: accepted.receipt, changes: accepted.changes))
    }
    if committed.isEmpty { return }
    for observer in observers { observer.didCommit(committed) }
  }

  /// Hands out one answer. After a failed commit everything that was judged on the batch is refused: also what was going
  /// to be refused, for it was judged on a state that does not exist.
  private func tell(_ judged: Judged, failure: StorageError?) {
    switch judged {
    case .committed(_, let accepted, let completion):
      completion(failure.map { .failure(CommitRefusal($0)) } ?? .success(accepted.receipt))
    case .refused(let refusal, let completion):
      completion(.failure(failure.map { CommitRefusal($0) } ?? refusal))
    case .opened(let result, let completion):
      completion(failure.map { .failure(CommitRefusal($0)) } ?? result)
    case .rehearsed(let results, let completion):
      completion(failure.map { error in results.map { _ in .failure(CommitRefusal(error)) } } ?? results)
    case .forgotten(let completion):
      completion(failure.map { .failure(CommitRefusal($0)) } ?? .success(()))
    }
  }

  private mutating func expireAnswers() {
    let now = pipeline.clock.now()
    guard now - lastExpiry >= Self.expiryInterval else { return }
    lastExpiry = now
    session.removeIdempotency(expiredAt: now)
  }
}
