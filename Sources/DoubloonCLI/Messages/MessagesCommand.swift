import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon messages`: in-app messages.
struct MessagesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "messages",
    abstract: "In-app messages: write, check, try, publish and stop campaigns; see what came of them.",
    discussion: """
      A campaign says what is shown (content), when (triggers, schedule), to whom (audience) and how often (frequency). It is \
      a draft until it is published; what is published does not change any more: it is stopped, and duplicated.

      Campaigns can be kept in a file, {"campaigns": […]} with comments, beside the game's rules:

        doubloon messages apply messages.json --dry-run

      Examples:
        doubloon messages create earned50.json
        doubloon messages preview earned50 --locale pl --param amount=50
        doubloon messages devices --player alice
        doubloon messages test earned50 --device cRk2…
        doubloon messages publish earned50 --reason "the summer event"
        doubloon messages explain earned50 --player alice
        doubloon messages stats earned50
      """,
    subcommands: [
      MessagesListCommand.self, MessagesShowCommand.self, MessagesHistoryCommand.self, MessagesCheckCommand.self,
      MessagesCreateCommand.self, MessagesPublishCommand.self, MessagesStopCommand.self, MessagesDuplicateCommand.self,
      MessagesDeleteCommand.self, MessagesApplyCommand.self, MessagesExportCommand.self, MessagesPreviewCommand.self,
      MessagesTestCommand.self, MessagesExplainCommand.self, MessagesStatsCommand.self, MessagesImagesCommand.self,
      MessagesDevicesCommand.self, MessagesEventsCommand.self, MessagesRaiseCommand.self, MessagesSettingsCommand.self,
    ])
}

/// `doubloon messages list`: campaigns.
struct MessagesListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List campaigns, in the order in which they are shown.",
    discussion: """
      Examples:
        doubloon messages list
        doubloon messages list --state draft
        doubloon messages list --text summer
      """)

  @Option(help: ArgumentHelp("Only those in this state: draft, published, stopped.", valueName: "state"))
  var state: AdminMessages.State?

  @Option(help: ArgumentHelp("Only those in whose id or name this is.", valueName: "text"))
  var text: String?

  @Option(help: ArgumentHelp("Go on behind this one.", valueName: "id"))
  var after: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let query = AdminMessages.ListQuery(state: state, q: text, limit: listing.count, cursor: after)
    listing.output.print(try await listing.page(of: AdminMessages.list, query: query), Self.text)
  }

  static func text(_ list: AdminMessages.List) -> String {
    var table = TextTable([
      .text("ID"), .text("STATE"), .text("LAYOUT"), .number("PRIORITY"), .text("APPEARS ON"), .text("SINCE"), .text("NAME"),
    ])
    for row in list.campaigns {
      table.add([
        row.id, row.ended ? "ended" : row.state.rawValue, row.layout, row.priority.grouped,
        row.triggers.joined(separator: ", "), row.publishedAt.text, row.name,
      ])
    }
    return table.page(empty: "There are no such campaigns.", next: list.next, by: "--after")
  }
}

extension AdminMessages.State: ExpressibleByArgument {}

/// Which campaign a command is about, of which server.
struct CampaignArgument: ParsableArguments {
  @Argument(help: "The campaign's id.")
  var id: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  /// Asks an endpoint about the campaign.
  func call<Body, Answer>(_ endpoint: Endpoint<NoQuery, Body, Answer>, body: Body) async throws -> AdminAnswer<Answer> {
    try await server.withClient { client in
      try await client.call(endpoint, at: [id], body: body, namespace: server.namespace)
    }
  }
}

/// `doubloon messages show`: one campaign.
struct MessagesShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show a campaign: its document, its state, what is doubtful about it.",
    discussion: """
      Examples:
        doubloon messages show earned50
        doubloon messages show earned50 --json > earned50.json
      """, aliases: ["get"])

  @OptionGroup
  var choice: CampaignArgument

  func run() async throws {
    let answer = try await choice.call(AdminMessages.show, body: NoBody())
    choice.output.print(answer.json) { json in
      ([Self.head(answer.value), MessageFile.kept(json).prettyText] + answer.value.warnings.map(\.text))
        .joined(separator: "\n")
    }
  }

  /// One line about where it stands.
  static func head(_ campaign: AdminMessages.Campaign) -> String {
    let state = campaign.ended ? "published, and its time is over" : campaign.state.rawValue
    return "\(campaign.id), version \(campaign.version), is \(state).".printable
  }
}

extension AdminMessages.Fault {
  /// One line.
  var text: String { "\(path.isEmpty ? "the document" : path): \(message) (\(code))".printable }
}

/// `doubloon messages history`: earlier versions.
struct MessagesHistoryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "List the versions of a campaign: when, who, what; newest first.",
    discussion: """
      Examples:
        doubloon messages history earned50
        doubloon messages history earned50 --json
      """)

  @OptionGroup
  var choice: CampaignArgument

  func run() async throws {
    let answer = try await choice.call(AdminMessages.versions, body: NoBody())
    choice.output.print(answer) { history in
      var table = TextTable([.number("VERSION"), .text("TIME"), .text("WHO"), .text("WHAT")])
      for version in history.versions { table.add([version.version.grouped, version.at.text, version.by, version.action]) }
      return table.render()
    }
  }
}
