import HTTPServer
import PlayerLifecycle
import RewardModel
import StorageCore
import TreeModel

/// A walk through a namespace's trigger log, newest first, that shows what a filter admits. Listings and counts are the same
/// walk, so that a count is always the number of rows.
struct EventScan {
  /// An event that the filter admits, with what became of it.
  struct Found {
    let event: EventRecord
    let commit: CommitRecord?
    let executions: [ExecutionRecord]
    let deliveries: [DeliveryRecord]
  }

  let namespace: NamespaceID
  let filter: EventFilter
  let snapshot: any Snapshot
  /// Events that are looked at before the walk stops.
  let scanMax: Int
  private(set) var scanned = 0
  private var source: any EventSource
  private var ahead: EventRecord?
  private var received: Set<EventID> = []
  /// Events of earlier revisions are not wanted.
  private var floor = Revision.zero
  private var isBelowFloor = false
  /// Where the event looked at last stands.
  private var last: EventPosition?
  /// The commit looked at last: the events of a commit stand together.
  private var known: (revision: Revision, commit: CommitRecord?)?

  init(
    _ namespace: NamespaceID, _ filter: EventFilter, currencies: [Currency],
    functions: [FunctionDescription], before cursor: EventPosition?, scanMax: Int,
    in snapshot: any Snapshot
  ) throws(StorageError) {
    self.namespace = namespace
    self.filter = filter
    self.snapshot = snapshot
    self.scanMax = scanMax
    if let since = filter.since { floor = try snapshot.revision(in: namespace, at: since - 1).next }
    if let cause = filter.cause { floor = max(floor, cause.revision) }
    var start = cursor
    if let until = filter.until {
      let end = try snapshot.revision(in: namespace, at: until).next
      if start.map({ $0.revision >= end }) ?? true { start = EventPosition(revision: end, path: nil) }
    }
    guard let uid = filter.uid else {
      source = WholeLog(namespace, before: start, in: snapshot)
      return
    }
    let accounts = currencies.map { LedgerAccount("\($0.holder):\(uid)") }
    if let places = PlayerPaths(of: uid, currencies: currencies, functions: functions).all(
      try snapshot.functions().map(\.pattern))
    {
      let events = try PlayerEvents(of: uid, at: places, accounts: accounts, namespace, before: start, in: snapshot)
      received = Set(events.received)
      source = events
    } else {
      received = Set(try PlayerEvents.received(by: accounts, namespace, snapshot))
      source = WholeLog(namespace, before: start, in: snapshot)
    }
  }

  /// The next event that the filter admits; nil at the end, and where the walk stops to look.
  mutating func next() throws(StorageError) -> Found? {
    while scanned < scanMax, let event = try nextEvent() {
      scanned += 1
      last = EventPosition(revision: event.id.revision, path: event.id.path)
      if let found = try admitted(event) { return found }
    }
    return nil
  }

  private mutating func nextEvent() throws(StorageError) -> EventRecord? {
    if let event = ahead {
      ahead = nil
      return event
    }
    guard !isBelowFloor, let event = try source.next() else { return nil }
    guard event.id.revision >= floor else {
      isBelowFloor = true
      return nil
    }
    return event
  }

  private mutating func admitted(_ event: EventRecord) throws(StorageError) -> Found? {
    guard filter.admits(event, isReceived: received.contains(event.id)) else { return nil }
    if filter.needsCommit {
      let commit = try commit(of: event)
      guard filter.admits(commit) else { return nil }
      if let cause = filter.cause, try !cause.leads(to: event, commit, in: snapshot) { return nil }
    }
    let executions = try snapshot.executions(in: namespace, of: event.id)
    let deliveries = try snapshot.deliveries(in: namespace, of: event.id)
    guard filter.admits(executions, deliveries) else { return nil }
    return Found(event: event, commit: try commit(of: event), executions: executions, deliveries: deliveries)
  }

  private mutating func commit(of event: EventRecord) throws(StorageError) -> CommitRecord? {
    if let known, known.revision == event.id.revision { return known.commit }
    let commit = try snapshot.commit(in: namespace, at: event.id.revision)
    known = (event.id.revision, commit)
    return commit
  }

  // MARK: How far it came

  /// Where to go on, and how far was looked; asked once, after the last ``next()``.
  mutating func end() throws(StorageError) -> [(String, JSON?)] {
    if ahead == nil { ahead = try nextEvent() }
    let isComplete = ahead == nil && (isBelowFloor || source.isAtEnd)
    let position = ahead == nil ? source.position : last
    let cursor = position.map { "\($0.revision):\($0.path?.path?.description ?? "")" }
    let through = isComplete ? floor : (position?.revision ?? floor)
    return [
      ("next", isComplete ? nil : cursor.map(JSON.string)), ("scanned", .int(Int64(scanned))),
      ("scannedThrough", .int(max(through.rawValue, 0))), ("complete", .bool(isComplete)),
    ]
  }

  /// Reads a cursor as ``end()`` wrote it.
  static func position(_ cursor: String) throws(APIError) -> EventPosition {
    guard let colon = cursor.firstIndex(of: ":"), let revision = Int64(cursor[..<colon]),
      (0...JSONSchema.countMax).contains(revision),
      let path = try? Path(parsingInternal: cursor[cursor.index(after: colon)...])
    else { throw .badRequest("cursor must be the \"next\" of an earlier page.") }
    return EventPosition(revision: Revision(revision), path: path.isRoot ? nil : PathBytes(path))
  }
}

/// Pages through a namespace's trigger log, newest first, or counts it.
struct EventListing {
  /// Events that one listing looks at; a filter that admits few gives a short page and a cursor to go on with.
  static let scanMax = 5000
  /// Events that one count looks at.
  static let countMax = 50_000

  private var walk: EventScan

  init(_ walk: EventScan) {
    self.walk = walk
  }

  /// The rows, where to go on, and how far was looked.
  mutating func page(limit: Int) throws(StorageError) -> JSON {
    var rows: [JSON] = []
    while rows.count < limit, let found = try walk.next() {
      rows.append(Self.row(found.event, found.commit, found.executions, found.deliveries))
    }
    return .record([("events", .array(rows))] + (try walk.end()))
  }

  /// How many rows there are, and what became of them for the functions that the filter means.
  mutating func count() throws(StorageError) -> JSON {
    var count: Int64 = 0
    var outcomes: [String: Int64] = [:]
    while let found = try walk.next() {
      count += 1
      for execution in found.executions where walk.filter.admits(execution) {
        outcomes[execution.outcome.rawValue, default: 0] += 1
      }
      for delivery in found.deliveries where walk.filter.admits(delivery) {
        outcomes[delivery.state.rawValue, default: 0] += 1
      }
      if found.executions.isEmpty && found.deliveries.isEmpty { outcomes["pending", default: 0] += 1 }
    }
    let members = EventFilter.outcomes.compactMap { name in outcomes[name].map { JSON.Member(key: name, value: .int($0)) } }
    return .record([("count", .int(count)), ("outcomes", .object(members))] + (try walk.end()))
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
      ("cause", commit?.cause.map { JSON($0) }), ("executions", .array(executions.map(JSON.init))),
      ("deliveries", .array(deliveries.map(JSON.init))),
    ])
  }
}
