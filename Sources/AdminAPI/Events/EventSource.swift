import StorageCore
import TreeModel

/// Where a walk through the trigger log gets its events from, newest first.
protocol EventSource {
  /// The next event; nil at the end, or where the source stops to look (see ``isAtEnd``).
  mutating func next() throws(StorageError) -> EventRecord?
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

  mutating func next() throws(StorageError) -> EventRecord? {
    if page.isEmpty, !isAtEnd { page = try snapshot.events(in: namespace, before: position, limit: Self.pageSize)[...] }
    guard let event = page.popFirst() else {
      isAtEnd = true
      return nil
    }
    position = EventPosition(revision: event.id.revision, path: event.id.path)
    return event
  }
}
