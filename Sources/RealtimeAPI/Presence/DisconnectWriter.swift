import APISupport
import HTTPServer
import Logging
import NIOCore
import StorageCore
import TreeDatabase
import TreeModel

/// Sees to it that what was registered for a session's end is written: presence that is lost stays wrong for ever.
struct DisconnectWriter: Sendable {
  let namespace: NamespaceID
  let caller: Caller
  /// What the audit log is told, if an administrator's session ends.
  let audit: AuditRecord?
  /// What the store keeps of it, which goes with what is written; nil: nothing.
  let kept: KeptEnd?
  let session: SessionReference
  let services: RealtimeServices

  /// How often a full queue is met with patience: for a minute.
  private static let attemptsMax = 300

  func submit(_ operations: [WriteOperation], attempt: Int = 1) {
    var commit = CommitRequest(namespace: namespace, actor: caller.actor, operations: operations)
    commit.access.auth = caller.auth
    commit.log.audit = audit
    commit.rows.records = kept?.removal ?? []
    services.database.submit(commit) { result in
      guard case .failure(let error) = result else { return finish() }
      switch error.code {
      case .overloaded where attempt < Self.attemptsMax:
        session.eventLoop.scheduleTask(in: .milliseconds(200)) { submit(operations, attempt: attempt + 1) }
      case .unavailable, .overloaded: giveUp(error)
      default:
        guard let operation = operations.first, operations.count == 1, operation.assignments.count > 1 else {
          log(error)
          return settle()
        }
        // One that cannot be written takes nothing from the others.
        submitApart(operation.assignments[...])
      }
    }
  }

  private func submitApart(_ assignments: ArraySlice<WriteOperation.Assignment>, attempt: Int = 1) {
    guard let assignment = assignments.first, let update = try? WriteOperation.update(.root, [assignment]) else {
      return settle()
    }
    var commit = CommitRequest(namespace: namespace, actor: caller.actor, operations: [update])
    commit.access.auth = caller.auth
    commit.rows.records = kept?.removal(of: assignment) ?? []
    services.database.submit(commit) { result in
      // What is refused at once is told on this stack, and thousands may follow: each begins on a stack of its own.
      session.eventLoop.execute { go(on: assignments, after: result, attempt: attempt) }
    }
  }

  private func go(
    on assignments: ArraySlice<WriteOperation.Assignment>, after result: Result<CommitReceipt, CommitError>, attempt: Int
  ) {
    if case .failure(let error) = result {
      switch error.code {
      case .overloaded where attempt < Self.attemptsMax:
        session.eventLoop.scheduleTask(in: .milliseconds(200)) { submitApart(assignments, attempt: attempt + 1) }
        return
      case .unavailable, .overloaded: return giveUp(error)
      default: log(error)
      }
    }
    submitApart(assignments.dropFirst())
  }

  /// Takes away what the store keeps: what could be written is written.
  func settle(attempt: Int = 1) {
    let removal = kept?.removal ?? []
    guard !removal.isEmpty else { return finish() }
    var commit = CommitRequest(namespace: namespace, actor: caller.actor)
    commit.rows.records = removal
    services.database.submit(commit) { result in
      guard case .failure(let error) = result, case .overloaded = error.code else { return finish() }
      // The session waits no longer; what is kept must go all the same, or the next server would write it after everything else.
      if attempt == Self.attemptsMax { finish() }
      session.eventLoop.scheduleTask(in: attempt < Self.attemptsMax ? .milliseconds(200) : .seconds(5)) {
        settle(attempt: attempt + 1)
      }
    }
  }

  private func giveUp(_ error: CommitError) {
    log(error)
    // What a store that takes nothing any more keeps is carried out by the next server.
    if case .overloaded = error.code { settle(attempt: Self.attemptsMax) } else { finish() }
  }

  private func log(_ error: CommitError) {
    services.logger.warning(
      "what a client registered for its end could not be written", metadata: ["reason": "\(error.message)"])
  }

  private func finish() {
    session.run { session in session.didEnd() }
  }
}
