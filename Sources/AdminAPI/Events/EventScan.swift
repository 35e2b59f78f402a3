import AdminModel
import HTTPServer
import PlayerLifecycle
import RewardModel
import StorageCore
import TreeModel

/// A scan of a namespace's trigger log, newest first, that shows what a filter admits. Listings and counts are the same
/// scan, so that a count is always the number of rows.
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
  /// Events that are looked at before the scan stops.
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
  ) throws {
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
      received = Set(try PlayerEvents.received(by: accounts, in: namespace, snapshot: snapshot))
      source = WholeLog(namespace, before: start, in: snapshot)
    }
  }

  /// The next event that the filter admits; nil at the end, and where the scan stops.
  mutating func next() throws -> Found? {
    while scanned < scanMax, let event = try nextEvent() {
      scanned += 1
      last = EventPosition(revision: event.id.revision, path: event.id.path)
      if let found = try admitted(event) { return found }
    }
    return nil
  }

  private mutating func nextEvent() throws -> EventRecord? {
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

  private mutating func admitted(_ event: EventRecord) throws -> Found? {
    guard filter.admits(event, isReceived: received.contains(event.id)) else { return nil }
    if filter.needsCommit {
      let commit = try commit(of: event)
      guard filter.admits(commit) else { return nil }
      if let cause = filter.cause, try !cause.leads(to: event, commit: commit, in: snapshot) { return nil }
    }
    let executions = try snapshot.executions(in: namespace, of: event.id)
    let deliveries = try snapshot.deliveries(in: namespace, of: event.id)
    guard filter.admits(executions, deliveries: deliveries) else { return nil }
    return Found(event: event, commit: try commit(of: event), executions: executions, deliveries: deliveries)
  }

  private mutating func commit(of event: EventRecord) throws -> CommitRecord? {
    if let known, known.revision == event.id.revision { return known.commit }
    let commit = try snapshot.commit(in: namespace, at: event.id.revision)
    known = (event.id.revision, commit)
    return commit
  }

  // MARK: How far it came

  /// When the event that was looked at last happened; nil if there was none.
  func timeOfLast() throws -> Int64? {
    try last.flatMap { try snapshot.commitTime(in: namespace, at: $0.revision) }
  }

  /// A page without rows that says where to go on, and how far was looked; asked once, after the last ``next()``.
  mutating func end() throws -> AdminEvents.Page {
    if ahead == nil { ahead = try nextEvent() }
    let isComplete = ahead == nil && (isBelowFloor || source.isAtEnd)
    let position = ahead == nil ? source.position : last
    let cursor = position.map { "\($0.revision):\($0.path?.path?.description ?? "")" }
    let through = isComplete ? floor : (position?.revision ?? floor)
    return AdminEvents.Page(
      next: isComplete ? nil : cursor, scanned: Int64(scanned), scannedThrough: max(through.rawValue, 0),
      complete: isComplete)
  }

  /// Reads a cursor as ``end()`` wrote it.
  static func position(_ cursor: String) throws -> EventPosition {
    guard let colon = cursor.firstIndex(of: ":"), let revision = Int64(cursor[..<colon]),
      (0...JSONSchema.countMax).contains(revision),
      let path = try? Path(parsingInternal: cursor[cursor.index(after: colon)...])
    else { throw APIError.badRequest("cursor must be the \"next\" of an earlier page.") }
    return EventPosition(revision: Revision(revision), path: path.isRoot ? nil : PathBytes(path))
  }
}

/// Pages through a namespace's trigger log, newest first, or counts it.
struct EventListing {
  /// Events that one listing looks at; a filter that admits few gives a short page and a cursor to go on with.
  static let scanMax = 5000
  /// Events that one count looks at.
  static let countMax = 50_000

  private var scan: EventScan

  init(_ scan: EventScan) {
    self.scan = scan
  }

  /// The rows, where to go on, and how far was looked.
  mutating func page(limit: Int, currencies: [Currency]) throws -> AdminEvents.Page {
    var rows: [AdminEvents.Event] = []
    let coins = try RunCoins(of: scan.namespace, currencies: currencies, in: scan.snapshot)
    while rows.count < limit, let found = try scan.next() {
      var row = AdminEvents.Event(found.event, found.commit, found.executions, found.deliveries)
      row.coins = try coins.moved(by: found.executions)
      rows.append(row)
    }
    var page = try scan.end()
    page.events = rows
    return page
  }

  /// How many rows there are, and what became of them for the functions that the filter means.
  mutating func count() throws -> AdminEvents.Page {
    var count: Int64 = 0
    var outcomes: [AdminEvents.Outcome: Int64] = [:]
    while let found = try scan.next() {
      count += 1
      for execution in found.executions where scan.filter.admits(execution) {
        outcomes[AdminEvents.Outcome(execution.outcome), default: 0] += 1
      }
      for delivery in found.deliveries where scan.filter.admits(delivery) {
        outcomes[AdminEvents.Outcome(delivery.state), default: 0] += 1
      }
      if found.executions.isEmpty && found.deliveries.isEmpty { outcomes[.pending, default: 0] += 1 }
    }
    var page = try scan.end()
    page.count = count
    page.outcomes = NamedValues(
      AdminEvents.Outcome.allCases.compactMap { outcome in
        outcomes[outcome].map { NamedValues.Member(outcome.rawValue, $0) }
      })
    return page
  }
}

extension AdminEvents.Event {
  /// An event with what became of it.
  init(
    _ event: EventRecord, _ commit: CommitRecord?, _ executions: [ExecutionRecord], _ deliveries: [DeliveryRecord]
  ) {
    self.init(
      id: event.id.description, kind: AdminEvents.Kind(event.kind), path: event.id.path.path?.description ?? "?",
      revision: event.id.revision.rawValue, hop: Int64(event.hop), time: commit.map { Timestamp($0.time) },
      actor: commit?.actor.description, requestID: commit?.requestID, cause: commit?.cause.map { AdminEvents.Cause($0) },
      executions: executions.map { AdminEvents.Execution($0) }, deliveries: deliveries.map { AdminEvents.Delivery($0) })
  }
}

extension AdminEvents.Outcome {
  init(_ outcome: ExecutionRecord.Outcome) {
    switch outcome {
    case .done: self = .done
    case .skipped: self = .skipped
    }
  }

  init(_ state: DeliveryRecord.State) {
    switch state {
    case .waiting: self = .waiting
    case .paused: self = .paused
    case .dead: self = .dead
    }
  }
}
