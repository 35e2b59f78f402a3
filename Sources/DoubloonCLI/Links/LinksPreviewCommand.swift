import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon links preview`: what visitors get of a link.
struct LinksPreviewCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "preview",
    abstract: "Show what visitors get of a link, by device and step by step; nothing is created or counted.",
    discussion: """
      Of a short link that is there, or, with --prefix, of one that might be created with these parameters.

      Examples:
        doubloon links preview https://go.acme.test/r/aB3x
        doubloon links preview https://acme.test/play --prefix https://go.acme.test/r --set ibi=test.acme.ios
      """)

  @Argument(help: "A short link; with --prefix what the link would open.")
  var link: String

  @Option(help: ArgumentHelp("Below which of the domains.", valueName: "url"))
  var prefix: String?

  @Option(
    name: .customLong("set"), help: ArgumentHelp("A parameter of the long link; may be repeated.", valueName: "name=value"))
  var parameters: [String] = []

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    if prefix == nil, !parameters.isEmpty { throw ValidationError("--set needs --prefix.") }
    if let bad = parameters.first(where: { !$0.contains("=") }) {
      throw ValidationError("--set \(bad): write it as name=value.")
    }
  }

  func run() async throws {
    var order = AdminLinks.PreviewOrder(link: link)
    if let prefix {
      order = AdminLinks.PreviewOrder(
        prefix: prefix, parameters: LinksCreateCommand.parameters(link: link, parameters))
    }
    let answer = try await server.withClient { [order] client in
      try await client.call(AdminLinks.preview, body: order, namespace: server.namespace)
    }
    output.print(answer, Self.text)
  }

  static func text(_ preview: AdminLinks.Preview) -> String {
    if let error = preview.error { return "It would be refused: \(error)".printable }
    var lines: [String] = []
    for device in preview.devices {
      lines.append(device.device)
      lines += device.steps.enumerated().map { "  \($0.offset + 1). \($0.element)".printable }
    }
    if let card = preview.card { lines.append("card: \(card.title)\(card.text.isEmpty ? "" : " - \(card.text)")".printable) }
    return (lines + preview.warnings.map(\.text)).joined(separator: "\n")
  }
}

/// `doubloon links funnel`: what came of links.
struct LinksFunnelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "funnel",
    abstract: "Show what came of a link, of a player's links, or of a campaign's: from the click to the coins.",
    discussion: """
      CLICKS and INSTALLS are counted on their day; CLAIMS, SIGNED UP, the goal and COINS are of the players who claimed on \
      that day, as they are now.

      Examples:
        doubloon links funnel https://go.acme.test/r/aB3x
        doubloon links funnel --campaign summer --since 1795392000000
        doubloon links funnel --inviter alice
      """)

  @Argument(help: "The short link.")
  var link: String?

  @Option(help: ArgumentHelp("Instead of a link: all of this player.", valueName: "player"))
  var inviter: String?

  @Option(help: ArgumentHelp("Instead of a link: all whose utm_campaign is this.", valueName: "name"))
  var campaign: String?

  @Option(help: ArgumentHelp("Only from this time on, in milliseconds since 1970.", valueName: "time"))
  var since: Int64?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard [link, inviter, campaign].count(where: { $0 != nil }) == 1 else {
      throw ValidationError("Name exactly one: a link, --inviter or --campaign.")
    }
  }

  func run() async throws {
    let query = AdminLinks.FunnelQuery(
      link: link, inviter: inviter, campaign: campaign, since: since.map { Timestamp($0) })
    let answer = try await server.withClient { client in
      try await client.call(AdminLinks.funnel, query: query, namespace: server.namespace)
    }
    output.print(answer, Self.text)
  }

  static func text(_ funnel: AdminLinks.Funnel) -> String {
    guard !funnel.days.isEmpty else { return "Nothing came of \(funnel.links == 1 ? "this link" : "these links") yet." }
    var table = TextTable([
      .text("DAY"), .text("PLATFORM"), .number("CLICKS"), .number("INSTALLS"), .number("CLAIMS"), .number("SIGNED UP"),
      .number((funnel.goal?.name ?? "goal").uppercased()), .text("COINS"),
    ])
    func add(_ day: String, _ platform: String, _ stages: AdminLinks.Stages) {
      table.add([
        day, platform, stages.clicks.grouped, stages.installs.grouped, stages.claims.grouped, stages.signedUp.grouped,
        stages.reached.grouped, ReferralsShowCommand.coins(stages.coins),
      ])
    }
    for row in funnel.days { add(row.day, row.platform, row.stages) }
    add("all", "", funnel.totals)
    return table.render() + (funnel.complete ? "" : "\n\nThere were too many links or players: the first of them are counted.")
  }
}
