import TreeModel

/// Finds what is new in one look at the trigger log after the other.
struct EventFollower {
  /// An event with lines that were not shown yet.
  struct Fresh: Sendable {
    let event: JSON
    let rows: [EventRow]
  }

  private var seen: Set<[String]> = []
  private var ids: Set<String> = []
  private var isFirst = true

  /// Whether a look goes back far enough: its oldest event was seen in the look before.
  func reaches(_ events: [JSON]) -> Bool {
    guard !isFirst, let oldest = events.last else { return true }
    return EventRow.rows(of: oldest).contains { ids.contains($0.event) }
  }

  /// Takes the newest events, newest first.
  ///
  /// - Parameter count: how many events of the first look are new; what was there before them is old.
  /// - Returns: what is new, oldest first.
  mutating func take(_ events: [JSON], showing count: Int) -> [Fresh] {
    var fresh: [Fresh] = []
    var present: Set<[String]> = []
    for (index, event) in events.enumerated() {
      let rows = EventRow.rows(of: event)
      present.formUnion(rows.map(\.identity))
      let unseen = rows.filter { !seen.contains($0.identity) }
      if !unseen.isEmpty, !isFirst || index < count { fresh.append(Fresh(event: event, rows: unseen)) }
    }
    // What is no longer among the newest cannot come again.
    seen = present
    ids = Set(present.map { $0[0] })
    isFirst = false
    return fresh.reversed()
  }
}
