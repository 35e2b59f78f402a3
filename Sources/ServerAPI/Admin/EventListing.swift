import StorageCore
import TreeModel

/// Pages through a namespace's trigger log, newest first.
struct EventListing {
  /// Events that one call looks at; a filter that admits few gives a short page and a cursor to go on with.
  private static let scanMax = 5000
  private static let pageSize = 250

  let namespace: NamespaceID
  let filter: EventFilter
  let limit: Int

  private var rows: [JSON] = []
  private var scanned = 0
  /// The time of the revision looked at last: the events of a commit stand together.
  private var known: (revision: Revision, commit: CommitRecord?)?

  init(namespace: NamespaceID, filter: EventFilter, limit: Int) {
    self.namespace = namespace
    self.filter = filter
    self.limit = limit
  }

  /// The rows and where to go on; no cursor means that this was the end.
  mutating func page(before start: EventPosition?, in snapshot: any Snapshot) throws(StorageError) -> JSON {
    var position = start
    while true {
      let events = try snapshot.events(in: namespace, before: position, limit: Self.pageSize)
      for event in events {
        guard rows.count < limit, scanned < Self.scanMax else { return answer(next: position) }
        if try isTooOld(event, in: snapshot) { return answer(next: nil) }
        scanned += 1
        position = EventPosition(revision: event.id.revision, path: event.id.path)
        try take(event, in: snapshot)
      }
      if events.count < Self.pageSize { return answer(next: nil) }
    }
  }

  private func answer(next: EventPosition?) -> JSON {
    let cursor = next.flatMap { position in position.path?.path.map { "\(position.revision):\($0)" } }
    return .record([("events", .array(rows)), ("next", cursor.map(JSON.string))])
  }

  private mutating func isTooOld(_ event: EventRecord, in snapshot: any Snapshot) throws(StorageError) -> Bool {
    guard let since = filter.since, let commit = try commit(of: event, in: snapshot) else { return false }
    return commit.time < since
  }

  private mutating func commit(of event: EventRecord, in snapshot: any Snapshot) throws(StorageError) -> CommitRecord? {
    if let known, known.revision == event.id.revision { return known.commit }
    let commit = try snapshot.commit(in: namespace, at: event.id.revision)
    known = (event.id.revision, commit)
    return commit
  }

  private mutating func take(_ event: EventRecord, in snapshot: any Snapshot) throws(StorageError) {
    guard filter.admits(event) else { return }
    let executions = try snapshot.executions(in: namespace, of: event.id)
    let deliveries = try snapshot.deliveries(in: namespace, of: event.id)
    guard filter.admits(executions, deliveries) else { return }
    rows.append(Self.row(event, try commit(of: event, in: snapshot), executions, deliveries))
  }

  /// One event with what became of it.
  static func row(
    _ event: EventRecord, _ commit: CommitRecord?, _ executions: [ExecutionRecord], _ deliveries: [DeliveryRecord]
  ) -> JSON {
    .record([
      ("id", .string(event.id.description)), ("kind", .string(event.kind.rawValue)),
      ("path", event.id.path.path.map { .string($0.description) }), ("revision", .int(event.id.revision.rawValue)),
      ("hop", .int(Int64(event.hop))), ("time", commit.map { .int($0.time) }),
      ("actor", commit.map { .string($0.actor.description) }), ("requestId", commit?.requestID.map(JSON.string)),
      ("cause", commit?.cause.map { ["event": .string($0.event.description), "function": .string($0.function)] }),
      ("executions", .array(executions.map(JSON.init))), ("deliveries", .array(deliveries.map(JSON.init))),
    ])
  }

  /// Reads a cursor as ``answer(next:)`` wrote it.
  static func position(_ cursor: String) throws(APIError) -> EventPosition {
    guard let colon = cursor.firstIndex(of: ":"), let revision = Int64(cursor[..<colon]),
      let path = try? Path(parsing: cursor[cursor.index(after: colon)...])
    else { throw .badRequest("cursor must be the \"next\" of an earlier page.") }
    return EventPosition(revision: Revision(revision), path: PathBytes(path))
  }
}
