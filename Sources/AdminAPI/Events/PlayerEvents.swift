import RewardModel
import StorageCore
import TreeModel

/// Where a scan of the trigger log gets its events from, newest first.
protocol EventSource {
  /// The next event; nil at the end, or where the source stops to look (see ``isAtEnd``).
  mutating func next() throws -> EventRecord?
  /// Whether there are no more events.
  var isAtEnd: Bool { get }
  /// Where to go on.
  var position: EventPosition? { get }
}

/// All events, page by page.
struct WholeLog: EventSource {
  private static let pageSize = 250

  let namespace: NamespaceID
  let snapshot: any Snapshot
  private(set) var position: EventPosition?
  private(set) var isAtEnd = false
  private var page: ArraySlice<EventRecord> = []

  init(_ namespace: NamespaceID, before position: EventPosition?, in snapshot: any Snapshot) {
    self.namespace = namespace
    self.position = position
    self.snapshot = snapshot
  }

  mutating func next() throws -> EventRecord? {
    if page.isEmpty, !isAtEnd { page = try snapshot.events(in: namespace, before: position, limit: Self.pageSize)[...] }
    guard let event = page.popFirst() else {
      isAtEnd = true
      return nil
    }
    position = EventPosition(revision: event.id.revision, path: event.id.path)
    return event
  }
}

/// The events that concern one player, newest first, without looking at the others': those whose path has the player's key,
/// by the history of the places where functions look for it, and those for which coins moved on the player's accounts, by the
/// ledger's postings.
struct PlayerEvents: EventSource {
  /// Entries of the player's accounts that are looked at; of a player with more, events that paid earlier are not found.
  static let entriesMax = 50_000
  /// Pages of a path's history that one scan looks at.
  private static let pagesMax = 50
  private static let pageSize = 200

  let uid: Key
  let namespace: NamespaceID
  let snapshot: any Snapshot
  /// Where functions look for the player's key.
  private let paths: [PathBytes]
  /// The events for which coins moved on the player's accounts, newest first.
  let received: [EventID]
  private let receivedSet: Set<EventID>
  /// Revisions below this one are still to be looked at.
  private var upper: Revision
  private var start: EventPosition?
  private var page: ArraySlice<EventRecord> = []
  private var pages = 0
  private var isExhausted = false
  private var last: EventPosition?

  var isAtEnd: Bool { isExhausted && page.isEmpty }
  var position: EventPosition? { page.isEmpty ? EventPosition(revision: upper, path: nil) : last }

  init(
    of uid: Key, at paths: [PathBytes], accounts: [LedgerAccount], _ namespace: NamespaceID, before start: EventPosition?,
    in snapshot: any Snapshot
  ) throws {
    self.uid = uid
    self.paths = paths
    self.namespace = namespace
    self.snapshot = snapshot
    self.start = start
    received = try Self.received(by: accounts, in: namespace, snapshot: snapshot)
    receivedSet = Set(received)
    if let start {
      upper = start.path == nil ? start.revision : start.revision.next
    } else {
      upper = try snapshot.head(of: namespace).revision.next
    }
  }

  /// The events that moved coins on the accounts, newest first.
  static func received(by accounts: [LedgerAccount], in namespace: NamespaceID, snapshot: any Snapshot)
    throws -> [EventID]
  {
    var found: Set<EventID> = []
    for account in accounts {
      var before: Int64?
      var rest = entriesMax
      while rest > 0 {
        let entries = try snapshot.entries(in: namespace, account: account, before: before, limit: 500)
        for entry in entries { if let event = entry.transfer.event.flatMap({ EventID($0) }) { found.insert(event) } }
        before = entries.last?.sequence
        rest -= 500
        if entries.count < 500 { break }
      }
    }
    return found.sorted { ($0.revision, $0.path) > ($1.revision, $1.path) }
  }

  mutating func next() throws -> EventRecord? {
    while page.isEmpty, !isExhausted {
      guard pages < Self.pagesMax else { return nil }
      pages += 1
      try fill()
    }
    guard let event = page.popFirst() else { return nil }
    last = EventPosition(revision: event.id.revision, path: event.id.path)
    return event
  }

  /// Looks at the next revisions, downwards: those that touched a path, and those whose events moved coins.
  private mutating func fill() throws {
    var revisions: Set<Revision> = []
    var low = Revision.zero
    var isComplete = true
    for path in paths {
      let touches = try snapshot.touches(in: namespace, under: path, before: upper, limit: Self.pageSize)
      revisions.formUnion(touches.revisions)
      if touches.isComplete { continue }
      isComplete = false
      low = max(low, touches.scannedThrough)
    }
    revisions = revisions.filter { $0 >= low }
    for event in received where event.revision < upper && event.revision >= low { revisions.insert(event.revision) }
    var events: [EventRecord] = []
    for revision in revisions.sorted(by: >) { events += try self.events(of: revision).reversed() }
    upper = low
    isExhausted = isComplete
    page = events[...]
  }

  /// The player's events of one commit.
  private func events(of revision: Revision) throws -> [EventRecord] {
    let position = EventPosition(revision: revision, path: nil)
    return try snapshot.events(in: namespace, after: position, limit: 2000).filter { event in
      guard event.id.revision == revision else { return false }
      if let start, start.revision == revision, let path = start.path, event.id.path >= path { return false }
      return receivedSet.contains(event.id) || event.id.path.path?.keys.contains(uid) == true
    }
  }
}
