import APISupport
import HTTPServer
import NIOCore
import StorageCore
import TreeDatabase
import TreeModel

extension SocketSession {
  /// Registers, or forgets, what is to be written when the session ends (spec: rtdb-protocol §3.9).
  func registerForEnd(_ request: SocketRequest) throws(SocketRefusal) {
    if request.action == "oc" {
      disconnect.cancel(try target(of: request).path)
      return reply(SocketAnswers.done(request.number))
    }
    let operation = try operation(of: request)
    guard let namespace, services.access.judgesWrites(in: namespaceName, of: caller) else {
      return try register(operation, request.number)
    }
    // What the rules say now: the writer tries it and takes it back. They are asked again when it is carried out.
    var trial = CommitRequest(namespace: namespace, actor: caller.actor, operations: [operation])
    trial.auth = caller.auth
    let note = services.access.note(for: caller, in: namespaceName)
    trial.judgement = note
    try willWork(request)
    isBlocked = true
    let reference = reference
    let (number, weight) = (request.number, request.weight)
    services.database.rehearse([trial]) { results in
      reference.run { session in
        session.didWork(weight)
        session.didTry(operation, number, results.first, note)
      }
    }
  }

  private func didTry(
    _ operation: WriteOperation, _ number: Int64, _ result: Result<CommittedRequest, CommitRefusal>?, _ note: JudgementNote?
  ) {
    guard isOpen else { return }
    isBlocked = false
    do throws(SocketRefusal) {
      if case .failure(let refusal) = result {
        switch refusal.code {
        case .permissionDenied, .overloaded, .unavailable:
          if let reasons = reasons(of: refusal, note) { reply(reasons) }
          throw SocketRefusal(refusal)
        // What else is wrong now may be right then.
        default: break
        }
      }
      try register(operation, number)
    } catch {
      refuse(number, error)
    }
    pump()
  }

  private func register(_ operation: WriteOperation, _ number: Int64) throws(SocketRefusal) {
    guard operation.assignments.allSatisfy({ services.access.mayWrite($0.path, in: namespaceName, as: caller) }) else {
      throw .permissionDenied
    }
    var register = disconnect
    register.register(operation)
    var bytes = disconnectBytes + Self.size(of: operation)
    if bytes > limits.disconnectBytesMax {
      // Much of what was sent may have been replaced or cancelled since.
      bytes = register.assignments.reduce(0) { $0 + Self.size(of: $1) }
    }
    guard bytes <= limits.disconnectBytesMax, register.leafCount <= limits.disconnectLeavesMax else {
      throw SocketRefusal("too_big", "Too much is registered for the end of this connection: cancel some of it first.")
    }
    disconnect = register
    disconnectBytes = bytes
    holdWaiting()
    reply(SocketAnswers.done(number))
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
    let allowed = disconnect.assignments.filter { services.access.mayWrite($0.path, in: namespaceName, as: caller) }
    disconnect = DisconnectWrites()
    guard let namespace, !allowed.isEmpty, let update = try? WriteOperation.update(.root, allowed) else { return didEnd() }
    let audit = services.audit.treeWrite(update, as: "data.onDisconnect", by: caller, in: namespaceName)
    let writer = DisconnectWriter(
      namespace: namespace, caller: caller, audit: audit, session: reference, services: services)
    writer.submit([update])
  }
}
