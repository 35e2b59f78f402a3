import AdminModel
import HTTPServer
import StorageCore
import TreeModel

/// Which events a listing shows; everything that is given must hold.
struct EventFilter: Sendable {
  /// Where an event's path must be.
  private enum Scope: Sendable {
    case below(Path)
    case matching(PathPattern)

    func contains(_ path: Path) -> Bool {
      switch self {
      case .below(let prefix): prefix.contains(path)
      case .matching(let pattern): pattern.match(path) != nil
      }
    }
  }

  let function: String?
  private let outcome: String?
  /// A part of why it was skipped or failed.
  private let reason: String?
  /// Who wrote: a whole actor (`user:bob`) or a kind of actor (`user`).
  private let actor: String?
  /// It took so many attempts, or more.
  private let attempt: Int64?
  private let scope: Scope?
  /// The first write: of this event, or of this revision.
  let cause: EventCause?
  /// A player who is in the path, or whose account got or gave coins for the event.
  let uid: Key?
  /// The earliest commit, in milliseconds since 1970.
  let since: Int64?
  /// The latest commit, in milliseconds since 1970.
  let until: Int64?

  init(_ query: AdminEvents.Query) throws {
    function = query.function
    outcome = query.outcome?.rawValue
    reason = query.reason
    actor = query.actor
    attempt = query.attempt
    since = query.since?.milliseconds
    until = query.until?.milliseconds
    cause = try query.cause.map { try EventCause($0) }
    do {
      uid = try query.uid.map { try Key($0) }
    } catch {
      throw APIError.badRequest("\(error)")
    }
    scope = try query.path.map(Self.scope)
  }

  private static func scope(_ text: String) throws -> Scope {
    guard text.utf8.contains(where: { [UInt8(ascii: "{"), UInt8(ascii: "*")].contains($0) }) else {
      do {
        return .below(try Path(parsingInternal: text))
      } catch {
        throw APIError.badRequest(error.description)
      }
    }
    do {
      return .matching(try PathPattern(parsingInternal: text))
    } catch {
      throw APIError.badRequest("\(error)")
    }
  }

  /// Whether the event itself fits; cheap, nothing is read for it.
  ///
  /// - `isReceived`: whether coins moved for it on an account of ``uid``.
  func admits(_ event: EventRecord, isReceived: Bool) -> Bool {
    if let cause, !cause.mayLead(to: event) { return false }
    guard scope != nil || uid != nil else { return true }
    guard let path = event.id.path.path else { return false }
    if let scope, !scope.contains(path) { return false }
    if let uid, !isReceived, !path.keys.contains(uid) { return false }
    return true
  }

  /// Whether the commit is looked at.
  var needsCommit: Bool { actor != nil || cause != nil }

  /// Whether who wrote it fits.
  func admits(_ commit: CommitRecord?) -> Bool {
    guard let actor else { return true }
    guard let found = commit?.actor.description else { return false }
    return found == actor || found.hasPrefix(actor + ":")
  }

  /// Whether what became of the event fits: all of it in one and the same function.
  func admits(_ executions: [ExecutionRecord], deliveries: [DeliveryRecord]) -> Bool {
    guard function != nil || outcome != nil || reason != nil || attempt != nil else { return true }
    if executions.isEmpty && deliveries.isEmpty {
      return outcome == "pending" && function == nil && reason == nil && attempt == nil
    }
    return executions.contains(where: admits) || deliveries.contains(where: admits)
  }

  func admits(_ execution: ExecutionRecord) -> Bool {
    fits(execution.function, outcome: execution.outcome.rawValue, reason: execution.reason, attempts: execution.attempt)
  }

  func admits(_ delivery: DeliveryRecord) -> Bool {
    fits(delivery.function, outcome: delivery.state.rawValue, reason: delivery.lastError, attempts: delivery.attempts)
  }

  private func fits(_ function: String, outcome: String, reason: String?, attempts: Int) -> Bool {
    if let wanted = self.function, wanted != function { return false }
    if let wanted = self.outcome, wanted != outcome { return false }
    if let attempt, Int64(attempts) < attempt { return false }
    guard let wanted = self.reason else { return true }
    return reason.map { Array($0.utf8).holds(Array(wanted.utf8)) } ?? false
  }
}

extension [UInt8] {
  /// Whether these bytes stand here in one piece.
  fileprivate func holds(_ other: [UInt8]) -> Bool {
    if other.isEmpty { return true }
    guard count >= other.count else { return false }
    return (0...count - other.count).contains { self[$0..<$0 + other.count].elementsEqual(other) }
  }
}

/// The beginning of a chain of events: one of them, or all of a revision.
struct EventCause: Sendable {
  /// How far a chain is followed: longer ones are cut by the engine's own limit of hops.
  private static let stepsMax = 64

  let revision: Revision
  private let event: EventID?

  /// Reads an event's id, or a revision.
  init(_ text: String) throws {
    if let event = EventID(text), event.revision.rawValue <= JSONSchema.countMax {
      (self.event, revision) = (event, event.revision)
    } else if let number = Int64(text), (0...JSONSchema.countMax).contains(number) {
      (event, revision) = (nil, Revision(number))
    } else {
      throw APIError.badRequest("cause must be an event's id, such as 1-42:/users/bob/level, or a revision.")
    }
  }

  /// Whether an event can be the beginning or come after it.
  func mayLead(to event: EventRecord) -> Bool {
    event.id.revision > revision || isBeginning(event.id)
  }

  /// Whether an event is the beginning, or came of it through the effects of functions.
  ///
  /// - `commit`: the event's.
  func leads(to event: EventRecord, commit: CommitRecord?, in snapshot: any Snapshot) throws -> Bool {
    if isBeginning(event.id) { return true }
    var cause = commit?.cause
    for _ in 0..<Self.stepsMax {
      guard let found = cause else { return false }
      if isBeginning(found.event) { return true }
      guard found.event.revision > revision else { return false }
      cause = try snapshot.commit(in: event.namespace, at: found.event.revision)?.cause
    }
    return false
  }

  private func isBeginning(_ id: EventID) -> Bool {
    event.map { $0 == id } ?? (id.revision == revision)
  }
}
