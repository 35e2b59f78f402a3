import APISupport
import HTTPServer
import NIOCore
import StorageCore
import TreeDatabase
import TreeModel

extension SocketSession {
  /// Hands a set, an update or a transaction's set to the writer. It is answered when it is durable and every listen of
  /// this client has been told of it (spec: rtdb-protocol §3.5, ordering).
  func write(_ request: SocketRequest, in namespace: NamespaceID) throws(SocketRefusal) {
    let operation = try operation(of: request)
    guard operation.assignments.allSatisfy({ services.access.mayWrite($0.path, in: namespaceName, as: caller) }) else {
      throw .permissionDenied
    }
    let write = SocketWrite(number: request.number, operation: operation, namespace: namespace, weight: request.weight)
    try willWork(request)
    if let place = write.place {
      guard sessions.turns.come(id, to: place) == .proceed else {
        noteLine(at: place)
        turnWaiting = write
        isBlocked = true
        return
      }
    }
    submit(write)
  }

  /// The session is first in line: its write goes on, and what waited behind it.
  func takeTurn() {
    guard isOpen, let write = turnWaiting else { return }
    turnWaiting = nil
    isBlocked = false
    submit(write)
    pump()
  }

  private func submit(_ write: SocketWrite) {
    let place = answers.begin()
    var commit = CommitRequest(namespace: write.namespace, actor: caller.actor, operations: [write.operation])
    commit.auth = caller.auth
    commit.audit = services.audit.treeWrite(write.operation, by: caller, bytes: write.weight, in: namespaceName)
    let note = services.access.note(for: caller, in: namespaceName)
    commit.judgement = note
    let reference = reference
    let metrics = services.metrics
    let start = NIODeadline.now()
    // Without listens there is nothing to be told of, and the way over the hub is saved.
    let listener = listens.isEmpty ? nil : self.listener
    services.database.submit(commit) { result in
      // On the writer: only hand it on.
      let finish: @Sendable (SocketSession) -> Void = { session in
        metrics.commitLatency.record(NIODeadline.now() - start)
        session.didSubmit(place, SocketWriteOutcome(write: write, result: result, note: note))
      }
      if let listener {
        listener.afterDeliveries { reference.run(finish) }
      } else {
        reference.run { session in
          guard !session.listens.isEmpty, let listener = session.listener else { return finish(session) }
          listener.afterDeliveries { reference.run(finish) }
        }
      }
    }
  }

  private func didSubmit(_ place: Int, _ outcome: SocketWriteOutcome) {
    guard isOpen else { return }
    didWork(outcome.write.weight)
    // The way over the hub is longer than the direct one: a write behind a listen that began, or ended, may be back first.
    finish(place, .write(outcome))
    pump()
  }

  func acknowledge(_ outcome: SocketWriteOutcome) {
    let write = outcome.write
    switch outcome.result {
    case .success: tell(SocketAnswers.done(write.number))
    case .failure(let refusal):
      if let reasons = reasons(of: refusal, outcome.note) { tell(reasons) }
      tell(SocketAnswers.refused(write.number, SocketRefusal(refusal)))
    }
    if let place = write.place { noteTurn(at: place, outcome.result) }
  }

  /// A message that says why the rules denied a write; nil for who may not know.
  func reasons(of refusal: CommitRefusal, _ note: JudgementNote?) -> [UInt8]? {
    guard case .permissionDenied = refusal.code, let reasons = note?.judgement?.text else { return nil }
    return SocketAnswers.debug(reasons)
  }

  private func noteTurn(at place: TransactionTurns.Place, _ result: Result<CommitReceipt, CommitRefusal>) {
    if case .failure(let refusal) = result, case .stale = refusal.code {
      noteLine(at: place)
      sessions.turns.lose(id, at: place, sessions)
    } else if places.leave(place, keeping: turnWaiting?.place) {
      sessions.turns.leave(id, place, sessions)
    }
  }

  /// Notes that the session stands in line: it must leave when it ends.
  private func noteLine(at place: TransactionTurns.Place) {
    guard let other = places.enter(place, keeping: turnWaiting?.place) else { return }
    sessions.turns.leave(id, other, sessions)
  }

  /// The operation that `p`, `m`, `o` or `om` describes.
  func operation(of request: SocketRequest) throws(SocketRefusal) -> WriteOperation {
    let target = try target(of: request)
    let bounds = services.database.limits.bounds
    guard let data = request.body["d"] else { throw .failure("The request has no data: send null to delete.") }
    let hash = request.body["h"]
    guard hash == nil || hash?.string != nil else { throw .failure("The hash must be a string.") }
    do throws(WriteDataError) {
      if request.action == "m" || request.action == "om" {
        guard !target.isPriority else { throw .init(.updateNotAnObject) }
        let update = try WriteOperation.update(target.path, json: data, bounds: bounds)
        return hash?.string.map(update.expecting(dataHash:)) ?? update
      }
      let set = try WriteOperation.set(target, json: data, bounds: bounds)
      guard let expected = hash?.string else { return set }
      return set.expecting(dataHash: expected)
    } catch {
      throw SocketRefusal(error)
    }
  }

  /// The place that a request names; with and without a leading slash.
  func target(of request: SocketRequest) throws(SocketRefusal) -> PathTarget {
    guard let text = request.body["p"]?.string else { throw .failure("The request names no path: p must be a string.") }
    do {
      return try PathTarget(parsing: text)
    } catch {
      throw .failure(error.description)
    }
  }
}
