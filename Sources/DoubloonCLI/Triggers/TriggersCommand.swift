import AdminClient
import AdminModel
import ArgumentParser
import StorageCore
import TreeModel

/// `doubloon triggers`: the trigger log.
struct TriggersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "triggers",
    abstract: "The trigger log: what changed, which functions ran, what came of it.",
    discussion: """
      Every change that a function's pattern matches is an event, with an id such as 1-42:/users/bob/level.

      Examples:
        doubloon triggers list --outcome dead
        doubloon triggers show 1-42:/users/bob/level
        doubloon triggers tail
      """,
    subcommands: [
      TriggersListCommand.self, TriggersCountCommand.self, TriggersShowCommand.self, TriggersTailCommand.self,
      TriggersAcknowledgeCommand.self,
    ],
    aliases: ["events"])
}

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
    let (events, pages) = try await listing.server.withClient { client in
      var pages = EventPages(client: client, namespace: listing.server.namespace, query: filter.query, cursor: cursor)
      return (try await pages.take(listing.limit), pages)
    }
    let json = JSON(fields: [
      ("events", .array(events.map(\.json))), ("next", pages.cursor.map(JSON.string)),
      ("scannedThrough", pages.scannedThrough.map(JSON.int)), ("erased", pages.erased.map { JSON(encoding: $0) }),
    ])
    listing.output.print(json) { _ in Self.text(events.map(\.value), pages) }
  }

  static func text(_ events: [AdminEvents.Event], _ pages: EventPages) -> String {
    var table = TextTable(EventRow.columns)
    for event in events {
      for row in EventRow.rows(of: event) { table.add(row.cells) }
    }
    var text = table.isEmpty ? "No events match." : table.render()
    if let erased = pages.erased {
      text += "\n\n\(erased.uid) was erased up to revision \(erased.order.map { String($0) } ?? "?") (\(erased.reason)); "
      text += "of the events before only those that the ledger names are found."
    }
    guard let next = pages.cursor else { return text }
    let revision = pages.scannedThrough.map { String($0) } ?? "?"
    return text + "\n\nLooked back to revision \(revision); to go on, add --cursor '\(next)'."
  }
}

/// `doubloon triggers count`: how many events there are, and what came of them.
struct TriggersCountCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count",
    abstract: "Count events and what came of them.",
    discussion: """
      Counts what "list" with the same filter would show.

      Examples:
        doubloon triggers count --since yesterday
        doubloon triggers count --function rewardReferrals --outcome dead
      """)

  @OptionGroup
  var filter: EventFilter

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let total = try await server.withClient { client in try await count(by: client) }
    output.print(JSON(encoding: total)) { _ in total.text }
  }

  /// Adds the counts of page after page up.
  private func count(by client: AdminClient) async throws -> Total {
    var progress = ProgressLine(DoubloonCommandLine.output)
    defer { progress.clear() }
    var total = Total()
    var query = filter.query
    query.count = true
    repeat {
      let page = try await client.call(AdminEvents.list, query: query, namespace: server.namespace).value
      total.add(page)
      query.cursor = page.next
      progress.show("Looked at \(total.scanned.grouped) events")
    } while query.cursor != nil
    return total
  }

  /// The counts of all pages.
  struct Total: Encodable {
    var count: Int64 = 0
    var outcomes = NamedValues<Int64>()
    var scanned: Int64 = 0

    mutating func add(_ page: AdminEvents.Page) {
      count += page.count ?? 0
      scanned += page.scanned
      for outcome in page.outcomes?.members ?? [] {
        if let index = outcomes.members.firstIndex(where: { $0.name == outcome.name }) {
          outcomes.members[index].value += outcome.value
        } else {
          outcomes.members.append(outcome)
        }
      }
    }

    var text: String {
      let head = count.counted("event", many: "events")
      let parts = outcomes.members.map { "\($0.name) \($0.value.grouped)" }
      return parts.isEmpty ? "\(head)." : "\(head): \(parts.joined(separator: ", "))."
    }
  }
}

/// `doubloon triggers show`: one event, whole.
struct TriggersShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print one event whole: the write, who, the runs, their effects.",
    discussion: """
      Examples:
        doubloon triggers show 1-42:/users/bob/level

      An id that begins with 0- is that of a run by hand (doubloon functions invoke).
      """)

  @Argument(help: "The event's id, as \"list\" prints it.")
  var event: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard EventID(event) != nil else {
      throw ValidationError("\"\(event)\" is no event's id; they look like 1-42:/users/bob/level.")
    }
  }

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.call(AdminEvents.show, at: [event], namespace: server.namespace)
    }
    output.print(answer) { EventPage(event: $0).text }
  }
}

/// `doubloon triggers acknowledge`: closes dead letters.
struct TriggersAcknowledgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "acknowledge",
    abstract: "Close dead letters that shall never run.",
    discussion: """
      They stay in the log, as skipped by a person, with your reason. To run them instead: "doubloon replay --failed".

      Examples:
        doubloon triggers acknowledge --event 1-42:/users/bob/level --reason "paid by hand, ticket 512"
        doubloon triggers acknowledge --function welcomeMail --reason "the campaign is over"
      """)

  @Option(help: ArgumentHelp("The dead letters of this event.", valueName: "id"))
  var event: String?

  @Option(help: ArgumentHelp("The dead letters of this function.", valueName: "name"))
  var function: String?

  @Option(help: ArgumentHelp("Why; kept with the event.", valueName: "text"))
  var reason: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard event != nil || function != nil else { throw ValidationError("Name --event, --function, or both.") }
    if let event, EventID(event) == nil {
      throw ValidationError("\"\(event)\" is no event's id; they look like 1-42:/users/bob/level.")
    }
    guard !reason.isEmpty else { throw ValidationError("--reason must say why.") }
  }

  func run() async throws {
    let order = AdminEvents.AcknowledgeOrder(reason: reason, function: function, event: event)
    let answer = try await server.withClient { client in
      try await client.call(AdminEvents.acknowledge, body: order, namespace: server.namespace)
    }
    output.print(answer) { "\($0.acknowledged.counted("dead letter was", many: "dead letters were")) closed." }
  }
}
