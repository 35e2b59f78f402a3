import AdminClient
import AdminModel
import ArgumentParser
import TreeModel

/// `doubloon triggers tail`: follows the trigger log.
struct TriggersTailCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tail",
    abstract: "Print events as they come, with what comes of them, until Ctrl-C.",
    discussion: """
      A line is printed again when its outcome changes, as long as it is one of the newest 500. \
      With --json each line is the event as the server has it.

      Examples:
        doubloon triggers tail
        doubloon triggers tail --outcome dead --since 1h
      """)

  @OptionGroup
  var filter: EventFilter

  @Option(help: ArgumentHelp("How many earlier events to begin with.", valueName: "count"))
  var limit = 10

  @Option(help: ArgumentHelp("How often to look.", valueName: "seconds"))
  var interval = 1.0

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  /// Events that one look asks for.
  private static let pageMax = 500
  /// Events that one look asks for after a burst.
  private static let burstMax = 20_000

  mutating func validate() throws {
    guard (0...Self.pageMax).contains(limit) else { throw ValidationError("--limit must be 0 to \(Self.pageMax).") }
    guard (0.1...3600).contains(interval) else { throw ValidationError("--interval must be 0.1 to 3600 seconds.") }
    if server.data != nil { throw ValidationError("Nothing happens in a folder that no server has open; use \"list\".") }
  }

  func run() async throws {
    try await server.withClient { client in
      var follower = EventFollower()
      var showsTitles = !output.json
      while true {
        var pages = EventPages(client: client, namespace: server.namespace, query: filter.query)
        var events = try await pages.take(Self.pageMax)
        // After a burst the newest page may not reach back to what was shown.
        while events.count < Self.burstMax, !pages.isAtEnd, !follower.reaches(events) {
          events += try await pages.take(Self.pageMax)
        }
        let fresh = follower.take(events, showing: limit)
        show(fresh, titles: showsTitles)
        if !fresh.isEmpty { showsTitles = false }
        try await Task.sleep(for: .seconds(interval))
      }
    }
  }

  private func show(_ fresh: [EventFollower.Fresh], titles: Bool) {
    guard !fresh.isEmpty else { return }
    if output.json { return fresh.forEach { DoubloonCommandLine.output.line($0.event.json.compactText) } }
    var table = TextTable(EventRow.columns)
    for item in fresh {
      for row in item.rows { table.add(row.cells) }
    }
    for line in table.lines(showsTitles: titles) { DoubloonCommandLine.output.line(line) }
  }
}

/// Finds what is new in one look at the trigger log after the other.
struct EventFollower {
  /// An event with lines that were not shown yet.
  struct Fresh: Sendable {
    let event: AdminAnswer<AdminEvents.Event>
    let rows: [EventRow]
  }

  private var seen: Set<[String]> = []
  private var ids: Set<String> = []
  private var isFirst = true

  /// Whether a look goes back far enough: its oldest event was seen in the look before.
  func reaches(_ events: [AdminAnswer<AdminEvents.Event>]) -> Bool {
    guard !isFirst, let oldest = events.last else { return true }
    return EventRow.rows(of: oldest.value).contains { ids.contains($0.event) }
  }

  /// Takes the newest events, newest first.
  ///
  /// - `count`: how many events of the first look are new; what was there before them is old.
  /// - Returns: what is new, oldest first.
  mutating func take(_ events: [AdminAnswer<AdminEvents.Event>], showing count: Int) -> [Fresh] {
    var fresh: [Fresh] = []
    var present: Set<[String]> = []
    for (index, event) in events.enumerated() {
      let rows = EventRow.rows(of: event.value)
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
