import HTTPServer
import StorageCore

/// The beginning of a chain of events: one of them, or all of a revision.
struct EventCause: Sendable {
  /// How far a chain is followed: longer ones are cut by the engine's own limit of hops.
  private static let stepsMax = 64

  let revision: Revision
  private let event: EventID?

  /// Reads an event's id, or a revision.
  init(_ text: String) throws(APIError) {
    if let event = EventID(text), event.revision.rawValue <= Schema.countMax {
      (self.event, revision) = (event, event.revision)
    } else if let number = Int64(text), (0...Schema.countMax).contains(number) {
      (event, revision) = (nil, Revision(number))
    } else {
      throw .badRequest("cause must be an event's id, such as 1-42:/users/bob/level, or a revision.")
    }
  }

  /// Whether an event can be the beginning or come after it.
  func mayLead(to event: EventRecord) -> Bool {
    event.id.revision > revision || isBeginning(event.id)
  }

  /// Whether an event is the beginning, or came of it through the effects of functions.
  ///
  /// - Parameter commit: the event's.
  func leads(to event: EventRecord, _ commit: CommitRecord?, in snapshot: any Snapshot) throws(StorageError) -> Bool {
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
