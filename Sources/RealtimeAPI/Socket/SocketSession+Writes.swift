import APISupport
import CoreMetrics
import Crypto
import HTTPServer
import NIOCore
import StorageCore
import TreeDatabase
import TreeModel

extension SocketSession {
  /// Hands a set, an update or a transaction's set to the writer. It is answered when it is durable and every listen of this
  /// client has been told of it (firebase-js-sdk, `PersistentConnection.ts`).
  func write(_ request: SocketRequest, in namespace: NamespaceID) throws(SocketError) {
    let operation = try operation(of: request)
    guard operation.assignments.allSatisfy({ services.access.mayWrite($0.path, in: namespaceName, as: caller) }) else {
      throw .permissionDenied
    }
    var write = SocketWrite(number: request.number, operation: operation, namespace: namespace, weight: request.weight)
    write.repetition = try WriteKey.repetition(of: request)
    try willWork(request)
    if let key = write.queueKey {
      guard sessions.turns.come(id, to: key) == .proceed else {
        noteQueue(key)
        turnWaiting = write
        isBlocked = true
        return
      }
    }
    submit(write)
  }

  /// The session is first in the queue: its write continues, and then the requests behind it.
  func takeTurn() {
    guard isOpen, let write = turnWaiting else { return }
    turnWaiting = nil
    isBlocked = false
    submit(write)
    pump()
  }

  private func submit(_ write: SocketWrite) {
    let slot = answers.begin()
    var commit = CommitRequest(namespace: write.namespace, actor: caller.actor, operations: [write.operation])
    commit.access.auth = caller.auth
    commit.idempotency = write.repetition
    commit.log.audit = services.audit.treeWrite(write.operation, by: caller, bytes: write.weight, in: namespaceName)
    let note = services.access.note(for: caller, in: namespaceName)
    commit.access.note = note
    let reference = reference
    let metrics = services.metrics
    let start = NIODeadline.now()
    // Without listens no event can precede the answer, so it does not go through the hub.
    let listener = listens.isEmpty ? nil : self.listener
    services.database.submit(commit) { result in
      // Runs on the writer's thread, so it only hops to the event loop.
      let finish: @Sendable (SocketSession) -> Void = { session in
        metrics.commitLatency.recordNanoseconds((NIODeadline.now() - start).nanoseconds)
        session.didSubmit(slot, outcome: SocketWriteOutcome(write: write, result: result, note: note))
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

  private func didSubmit(_ slot: Int, outcome: SocketWriteOutcome) {
    guard isOpen else { return }
    didWork(outcome.write.weight)
    // An answer through the hub takes longer than a direct one: a write behind a listen that began or ended may return first.
    finish(slot, .write(outcome))
    pump()
  }

  func acknowledge(_ outcome: SocketWriteOutcome) {
    let write = outcome.write
    switch outcome.result {
    case .success: tell(SocketAnswers.done(write.number))
    case .failure(let error):
      if let reasons = reasons(of: error, note: outcome.note) { tell(reasons) }
      tell(SocketAnswers.refused(write.number, SocketError(error)))
    }
    if let key = write.queueKey { noteTurn(key, result: outcome.result) }
  }

  /// A message that says why the rules denied a write; nil for who may not know.
  func reasons(of error: CommitError, note: RuleDecisionNote?) -> [UInt8]? {
    guard case .permissionDenied = error.code, let reasons = note?.judgement?.text else { return nil }
    return SocketAnswers.debug(reasons)
  }

  private func noteTurn(_ key: TransactionQueues.Key, result: Result<CommitReceipt, CommitError>) {
    if case .failure(let error) = result, case .stale = error.code {
      noteQueue(key)
      sessions.turns.lose(id, at: key, sessions: sessions)
    } else if queuedTransactions.leave(key, keeping: turnWaiting?.queueKey) {
      sessions.turns.leave(id, key: key, sessions: sessions)
    }
  }

  /// Notes that the session is in a queue: it must leave it when it ends.
  private func noteQueue(_ key: TransactionQueues.Key) {
    guard let other = queuedTransactions.enter(key, keeping: turnWaiting?.queueKey) else { return }
    sessions.turns.leave(id, key: other, sessions: sessions)
  }

  /// The operation that `p`, `m`, `o` or `om` describes.
  func operation(of request: SocketRequest) throws(SocketError) -> WriteOperation {
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
      throw SocketError(error)
    }
  }

  /// The path that a request names; with and without a leading slash.
  func target(of request: SocketRequest) throws(SocketError) -> PathTarget {
    guard let text = request.body["p"]?.string else { throw .failure("The request names no path: p must be a string.") }
    do {
      return try PathTarget(parsing: text)
    } catch {
      throw .failure(error.description)
    }
  }
}

extension SocketSession {
  /// Registers, or forgets, what is to be written when the session ends (firebase-js-sdk, `PersistentConnection.ts`).
  func registerForEnd(_ request: SocketRequest) throws(SocketError) {
    if request.action == "oc" {
      var registered = disconnect
      registered.cancel(try target(of: request).path)
      return keep(registered, bytes: disconnectBytes, number: request.number)
    }
    let operation = try operation(of: request)
    guard let namespace, services.access.judgesWrites(in: namespaceName, of: caller) else {
      return try register(operation, number: request.number)
    }
    // Asks the rules now, by a write that the writer rolls back. They are asked again when the write is made.
    var trial = CommitRequest(namespace: namespace, actor: caller.actor, operations: [operation])
    trial.access.auth = caller.auth
    let note = services.access.note(for: caller, in: namespaceName)
    trial.access.note = note
    try willWork(request)
    isBlocked = true
    let reference = reference
    let (number, weight) = (request.number, request.weight)
    services.database.rehearse([trial]) { results in
      reference.run { session in
        session.didWork(weight)
        session.didTry(operation, number: number, result: results.first, note: note)
      }
    }
  }

  private func didTry(
    _ operation: WriteOperation, number: Int64, result: Result<CommittedRequest, CommitError>?, note: RuleDecisionNote?
  ) {
    guard isOpen else { return }
    isBlocked = false
    do throws(SocketError) {
      if case .failure(let error) = result {
        switch error.code {
        case .permissionDenied, .overloaded, .unavailable:
          if let reasons = reasons(of: error, note: note) { reply(reasons) }
          throw SocketError(error)
        // Other errors may be gone by the time of the disconnect.
        default: break
        }
      }
      try register(operation, number: number)
    } catch {
      refuse(number, error: error)
    }
    pump()
  }

  private func register(_ operation: WriteOperation, number: Int64) throws(SocketError) {
    guard operation.assignments.allSatisfy({ services.access.mayWrite($0.path, in: namespaceName, as: caller) }) else {
      throw .permissionDenied
    }
    var register = disconnect
    register.register(operation)
    var bytes = disconnectBytes + Self.size(of: operation)
    if bytes > limits.disconnectBytesMax {
      // Registrations may have been replaced or cancelled since.
      bytes = register.assignments.reduce(0) { $0 + Self.size(of: $1) }
    }
    guard bytes <= limits.disconnectBytesMax, register.leafCount <= limits.disconnectLeavesMax else {
      throw SocketError("too_big", "Too much is registered for the end of this connection: cancel some of it first.")
    }
    keep(register, bytes: bytes, number: number)
  }

  /// Answers when the store has what is registered from now on: it is written also if the server ends before the session.
  private func keep(_ registered: DisconnectWrites, bytes: Int, number: Int64) {
    let before = (disconnect, disconnectBytes)
    (disconnect, disconnectBytes) = (registered, bytes)
    holdWaiting()
    guard isOpen, let namespace else { return }
    let records = change(to: registered)
    guard !records.isEmpty else { return reply(SocketAnswers.done(number)) }
    var commit = CommitRequest(namespace: namespace, actor: caller.actor)
    commit.rows.records = records
    isBlocked = true
    let reference = reference
    services.database.submit(commit) { result in
      reference.run { session in session.didKeep(before, number: number, result: result) }
    }
  }

  /// What brings the store to this, with the caller's rights.
  private func change(to registered: DisconnectWrites) -> [KeyedRecordChange] {
    guard keptEnd != nil || !registered.isEmpty else { return [] }
    var kept = keptEnd ?? KeptEnd(name: "\(services.run)/\(sessions.makeID())")
    defer { keptEnd = kept }
    return kept.change(to: registered.assignments, as: caller)
  }

  private func didKeep(
    _ before: (DisconnectWrites, bytes: Int), number: Int64, result: Result<CommitReceipt, CommitError>
  ) {
    guard isOpen else { return }
    isBlocked = false
    switch result {
    case .success:
      keptEnd?.didChange(true)
      reply(SocketAnswers.done(number))
    case .failure(let error):
      keptEnd?.didChange(false)
      (disconnect, disconnectBytes) = before
      holdWaiting()
      refuse(number, error: SocketError(error))
    }
    pump()
  }

  /// What is registered is to be written as the session's caller from now on.
  ///
  /// - Parameter blocks: whether requests wait until the store has it.
  func keepCaller(blocks: Bool) {
    guard isOpen, let namespace, !disconnect.isEmpty else { return }
    let records = change(to: disconnect)
    guard !records.isEmpty else { return }
    var commit = CommitRequest(namespace: namespace, actor: caller.actor)
    commit.rows.records = records
    if blocks { isBlocked = true }
    let reference = reference
    services.database.submit(commit) { result in
      reference.run { session in session.didKeepCaller(result, blocks: blocks) }
    }
  }

  private func didKeepCaller(_ result: Result<CommitReceipt, CommitError>, blocks: Bool) {
    guard isOpen else { return }
    if case .failure(let error) = result {
      keptEnd?.didChange(false)
      if case .overloaded = error.code {
        // Nobody may be written as who is gone.
        let session = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.scheduleTask(in: .milliseconds(200)) { session.value.keepCaller(blocks: blocks) }
        return
      }
    } else {
      keptEnd?.didChange(true)
    }
    guard blocks else { return }
    isBlocked = false
    pump()
  }

  private static func size(of operation: WriteOperation) -> Int {
    operation.assignments.reduce(0) { $0 + size(of: $1) }
  }

  private static func size(of assignment: WriteOperation.Assignment) -> Int {
    let path = assignment.path.keys.reduce(32) { $0 + $1.text.utf8.count }
    guard case .node(let node) = assignment.value else { return path }
    return path + node.node.json(.export).count
  }

  /// Writes what was registered, as one commit, with the time and the rights of this moment; then the session is over.
  func carryOutDisconnect() {
    let registered = disconnect.assignments
    disconnect = DisconnectWrites()
    guard let namespace, !registered.isEmpty || keptEnd?.removal.isEmpty == false else { return didEnd() }
    let allowed = registered.filter { services.access.mayWrite($0.path, in: namespaceName, as: caller) }
    let update = allowed.isEmpty ? nil : try? WriteOperation.update(.root, allowed)
    let writer = DisconnectWriter(
      namespace: namespace, caller: caller,
      audit: update.map { services.audit.treeWrite($0, as: "data.onDisconnect", by: caller, in: namespaceName) } ?? nil,
      kept: keptEnd, session: reference, services: services)
    if let update { writer.submit([update]) } else { writer.settle() }
  }
}

/// A set, an update or a transaction's set, judged as far as it can be without the data.
struct SocketWrite: Sendable {
  /// Of the request.
  let number: Int64
  let operation: WriteOperation
  let namespace: NamespaceID
  /// Of the request.
  let weight: Int
  /// By which a repetition of the request is known; nil where the client gave no key.
  var repetition: CommitRequest.Idempotency?

  /// The queue of a transaction; nil for an unconditional write.
  var queueKey: TransactionQueues.Key? {
    operation.expectedHash == nil ? nil : .init(namespace: namespace, path: operation.path)
  }
}

/// An answer that may have to wait for those before it.
enum SocketAnswer: Sendable {
  case message([UInt8])
  case write(SocketWriteOutcome)
}

struct SocketWriteOutcome: Sendable {
  let write: SocketWrite
  let result: Result<CommitReceipt, CommitError>
  /// Has the rules' reasons.
  let note: RuleDecisionNote?
}

/// The key of a write (`k`): a client that lost the answer sends the write again under the same key, and gets the first answer.
///
/// The protocol itself has no such thing: a repeated increment counts twice. The greeting says that this server knows keys.
enum WriteKey {
  /// Characters of a key: those of 128 bits in hex, a dash and a number have 52 at most.
  static let lengthMax = 64
  /// How long a key is remembered, in milliseconds: 24 hours, as those of HTTP requests.
  private static let lifetime: Int64 = 86_400_000

  /// What the request's key asks for; nil without one.
  ///
  /// Keys are random numbers of 128 bits. They belong to no player: what was written before a sign-in is repeated after it.
  static func repetition(of request: SocketRequest) throws(SocketError) -> CommitRequest.Idempotency? {
    guard let member = request.body["k"] else { return nil }
    guard let key = member.string, (34...lengthMax).contains(key.utf8.count) else {
      throw .failure("The key of a write must be a string of 34 to \(lengthMax) characters.")
    }
    var writer = JSONWriter()
    let parts: [JSON] = ["p", "h", "d"].map { name in request.body[name] ?? .null }
    writer.write(.array([JSON.string(request.action)] + parts))
    return CommitRequest.Idempotency(
      key: "socket \(key)", requestDigest: Array(SHA256.hash(data: writer.bytes)), lifetime: lifetime
    ) { _ in [] }
  }
}
