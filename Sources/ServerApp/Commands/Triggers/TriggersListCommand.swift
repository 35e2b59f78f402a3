import ArgumentParser
import TreeModel

/// `doubloon triggers list`: the trigger log, newest first.
struct TriggersListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List events and what came of them, newest first.",
    discussion: """
      Examples:
        doubloon triggers list
        doubloon triggers list --function rewardReferrals --outcome skipped --since yesterday
        doubloon triggers list --uid bob --json
      """)

  @OptionGroup
  var filter: EventFilter

  @Option(help: ArgumentHelp("At most so many events.", valueName: "count"))
  var limit = 50

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") }
  }

  func run() async throws {
    let query = server.query + filter.query
    let events = try await server.withClient { client in
      var pages = EventPages(client: client, query: query)
      return try await pages.take(limit)
    }
    output.print(["events": .array(events)], Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable(EventRow.columns)
    for event in answer.listed("events") {
      for row in EventRow.rows(of: event) { table.add(row.cells) }
    }
    return table.isEmpty ? "No events match." : table.render()
  }
}
