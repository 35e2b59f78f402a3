import AdminClient
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
    let query = server.query + filter.query + [QueryItem("count", "true")]
    let answer = try await server.withClient { client in try await Self.count(client, query) }
    output.print(answer, Self.text)
  }

  /// Adds the counts of page after page up.
  private static func count(_ client: AdminClient, _ query: [QueryItem]) async throws -> JSON {
    var progress = ProgressLine(DoubloonCommandLine.output)
    defer { progress.clear() }
    var (count, scanned) = (Int64(0), Int64(0))
    var outcomes: [(name: String, count: Int64)] = []
    var cursor: String?
    repeat {
      let page = try await client.get(AdminPath.events, query: query + [QueryItem("cursor", cursor)].compactMap(\.self))
      count += page["count"]?.int ?? 0
      scanned += page["scanned"]?.int ?? 0
      for member in page["outcomes"]?.object ?? [] {
        if let index = outcomes.firstIndex(where: { $0.name == member.key }) {
          outcomes[index].count += member.value.int ?? 0
        } else {
          outcomes.append((member.key, member.value.int ?? 0))
        }
      }
      cursor = page["next"]?.string
      progress.show("Looked at \(scanned.grouped) events")
    } while cursor != nil
    return [
      "count": .int(count), "outcomes": .object(outcomes.map { .init(key: $0.name, value: .int($0.count)) }),
      "scanned": .int(scanned),
    ]
  }

  static func text(_ answer: JSON) -> String {
    let head = (answer["count"]?.int ?? 0).counted("event", "events")
    let outcomes = (answer["outcomes"]?.object ?? []).map { "\($0.key) \(($0.value.int ?? 0).grouped)" }
    return outcomes.isEmpty ? "\(head)." : "\(head): \(outcomes.joined(separator: ", "))."
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
    let answer = try await server.withClient { client in try await client.get(AdminPath.event(event), query: server.query) }
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
    var members: [JSON.Member] = [.init(key: "reason", value: .string(reason))]
    if let event { members.append(.init(key: "event", value: .string(event))) }
    if let function { members.append(.init(key: "function", value: .string(function))) }
    let body = JSON.object(members)
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.acknowledge, body, query: server.query)
    }
    output.print(answer) { answer in
      "\((answer["acknowledged"]?.int ?? 0).counted("dead letter was", "dead letters were")) closed."
    }
  }
}
