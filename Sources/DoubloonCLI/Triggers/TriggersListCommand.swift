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
        doubloon triggers list --path '/users/*/level' --reason already_paid
        doubloon triggers list --cause 1-42:/users/bob/level
      """)

  @OptionGroup
  var filter: EventFilter

  @Option(help: ArgumentHelp("Go on where an earlier list ended.", valueName: "cursor"))
  var cursor: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let query = listing.server.query + filter.query
    let (events, pages) = try await listing.server.withClient { client in
      var pages = EventPages(client: client, query: query, cursor: cursor)
      return (try await pages.take(listing.limit), pages)
    }
    var answer: [JSON.Member] = [.init(key: "events", value: .array(events))]
    if let next = pages.cursor { answer.append(.init(key: "next", value: .string(next))) }
    if let revision = pages.scannedThrough { answer.append(.init(key: "scannedThrough", value: .int(revision))) }
    if let erased = pages.erased { answer.append(.init(key: "erased", value: erased)) }
    listing.output.print(.object(answer), Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable(EventRow.columns)
    for event in answer.listed("events") {
      for row in EventRow.rows(of: event) { table.add(row.cells) }
    }
    var text = table.isEmpty ? "No events match." : table.render()
    if let erased = answer["erased"] {
      text += "\n\n\(erased["uid"]?.string ?? "?") was erased up to revision \(erased["order"]?.plainText ?? "?") "
      text += "(\(erased["reason"]?.string ?? "")); of the events before only those that the ledger names are found."
    }
    guard let next = answer["next"]?.string else { return text }
    let revision = answer["scannedThrough"]?.plainText ?? "?"
    return text + "\n\nLooked back to revision \(revision); to go on, add --cursor '\(next)'."
  }
}
