import AdminClient
import AdminModel
import ArgumentParser
import Links
import ServerApp
import ServerConfiguration
import TreeModel

/// `doubloon links`: invitation links.
struct LinksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "links",
    abstract: "Invitation links: create, change, look at, count, bring along, print as codes.",
    discussion: """
      Links live on your own domains; name them first, with the apps that open them:

        doubloon links settings links.json

      where links.json holds at least {"domains": ["https://go.acme.test/r"], "hosts": ["acme.test"], \
      "apiKeys": ["a key for your apps"]}: where links begin, and the hosts that they may lead to.

      Examples:
        doubloon links create https://acme.test/play --prefix https://go.acme.test/r --short
        doubloon links stats https://go.acme.test/r/aB3x
        doubloon links disable https://go.acme.test/r/aB3x
        doubloon links import exported.csv --prefix https://go.acme.test/r --dry-run
        doubloon links qr https://go.acme.test/r/aB3x --out poster.svg
      """,
    subcommands: [
      LinksCreateCommand.self, LinksPreviewCommand.self, LinksFunnelCommand.self,
      LinksEditCommand.self, LinksDisableCommand.self, LinksEnableCommand.self,
      LinksDeleteCommand.self, LinksListCommand.self, LinksShowCommand.self, LinksStatsCommand.self, LinksImportCommand.self,
      LinksExportCommand.self, LinksQRCommand.self, LinksSettingsCommand.self,
    ])
}

/// `doubloon links list`: all short links, by address.
struct LinksListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List short links, by address.",
    discussion: """
      Examples:
        doubloon links list
        doubloon links list --limit 20 --after go.acme.test/r/aB3x
        doubloon links list --inviter alice
        doubloon links list --campaign summer --text poster
      """)

  @Option(help: ArgumentHelp("Only links in whose address, name, code or long form this is.", valueName: "text"))
  var text: String?

  @Option(help: ArgumentHelp("Only links of this player.", valueName: "player"))
  var inviter: String?

  @Option(help: ArgumentHelp("Only links whose utm_campaign is this.", valueName: "name"))
  var campaign: String?

  @Option(help: ArgumentHelp("Go on behind this one.", valueName: "link"))
  var after: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let cursor = after.map { $0.hasPrefix("https://") ? String($0.dropFirst(8)) : $0 }
    let query = AdminLinks.ListQuery(
      q: text, inviter: inviter, campaign: campaign, limit: listing.count, cursor: cursor)
    listing.output.print(try await listing.page(of: AdminLinks.list, query: query), Self.text)
  }

  static func text(_ list: AdminLinks.List) -> String {
    var table = TextTable([.text("LINK"), .text("NAME"), .text("INVITER"), .text("CREATED"), .text("OPENS")])
    for link in list.links {
      table.add([
        link.shortLink + (link.disabledAt == nil ? "" : " (disabled)"), link.name ?? "-", link.inviter ?? "-",
        link.createdAt.text, link.target ?? "-",
      ])
    }
    return table.page(empty: "There are no such links.", next: list.next, by: "--after")
  }
}

/// `doubloon links show`: what a short link says.
struct LinksShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show what a short link says.",
    discussion: """
      Examples:
        doubloon links show https://go.acme.test/r/aB3x
      """)

  @OptionGroup
  var choice: LinkArgument

  func run() async throws {
    let answer = try await choice.server.withClient { client in
      try await client.call(AdminLinks.show, query: choice.query, namespace: choice.server.namespace)
    }
    choice.output.print(answer, Self.text)
  }

  static func text(_ link: AdminLinks.Link) -> String {
    let rows: [(label: String, value: String?)] = [
      ("link", link.shortLink), ("opens", link.target ?? "-"), ("created", link.createdAt.text), ("name", link.name),
      ("inviter", link.inviter), ("code", link.code), ("invite", link.invitation), ("changed", link.changedAt?.text),
      ("disabled", link.disabledAt?.text), ("says", link.longLink),
    ]
    return rows.compactMap { row in row.value.map { (row.label.padded(10) + $0).printable } }.joined(separator: "\n")
  }
}

extension String {
  /// With blanks behind it, for two columns.
  fileprivate func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

/// `doubloon links stats`: what was counted of a link.
struct LinksStatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Show how often a link was opened, and what came of it.",
    discussion: """
      CLICK: opened by a person. REDIRECT: sent to a store or another fallback. APP_INSTALL, APP_FIRST_OPEN: the app was \
      installed and opened because of it. APP_RE_OPEN: the app was opened by it later.

      Examples:
        doubloon links stats https://go.acme.test/r/aB3x --days 30
      """)

  @Argument(help: "The short link.")
  var link: String

  @Option(help: ArgumentHelp("So many days back.", valueName: "count"))
  var days = 7

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...36_500).contains(days) else { throw ValidationError("--days must be 1 to 36500.") }
  }

  func run() async throws {
    let query = AdminLinks.StatisticsQuery(link: link, days: Int64(days))
    let answer = try await server.withClient { client in
      try await client.call(AdminLinks.statistics, query: query, namespace: server.namespace)
    }
    output.print(answer, Self.text)
  }

  static func text(_ statistics: AdminLinks.Statistics) -> String {
    guard !statistics.days.isEmpty else { return "Nothing was counted of \(statistics.link) in these days.".printable }
    var table = TextTable([.text("DAY"), .text("PLATFORM"), .text("EVENT"), .number("COUNT")])
    for row in statistics.days { table.add([row.day, row.platform, row.event, row.count.grouped]) }
    let totals = statistics.totals.map { "\($0.platform) \($0.event): \($0.count)" }
    return table.render() + "\n\n" + totals.joined(separator: "\n").printable(keepingLines: true)
  }
}

extension String {
  /// Printable, line by line.
  fileprivate func printable(keepingLines: Bool) -> String {
    split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
  }
}

/// `doubloon links settings`: domains, apps, keys, patterns.
struct LinksSettingsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Show the settings of links, or replace them by a file.",
    discussion: """
      Examples:
        doubloon links settings
        doubloon links settings links.json
      """)

  @Argument(help: "A JSON file with the new settings; - reads the standard input.")
  var file: String?

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let document = try file.map { try JSONInput.parse(FileBytes.read($0), from: $0) }
    let answer = try await server.withClient { client in
      if let document {
        return try await client.call(
          AdminLinks.putSettings, query: NoQuery(), document: document, namespace: server.namespace)
      }
      return try await client.call(AdminLinks.settings, namespace: server.namespace)
    }
    DoubloonCommandLine.output.line(answer.json.prettyText)
    for warning in answer.value.warnings { DoubloonCommandLine.output.error("warning: \(warning)".printable) }
  }
}

/// `doubloon links qr`: a link as a code to print.
struct LinksQRCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "qr",
    abstract: "Make a QR code of a link.",
    discussion: """
      SVG is sharp at any size; PNG is for where SVG is not taken. No server is asked.

      Examples:
        doubloon links qr https://go.acme.test/r/aB3x --out poster.svg
        doubloon links qr https://go.acme.test/r/aB3x --out poster.png --scale 16
      """)

  @Argument(help: "The link.")
  var link: String

  @Option(help: ArgumentHelp("Write into this file, .svg or .png; without it SVG is printed.", valueName: "file"))
  var out: String?

  @Option(help: ArgumentHelp("Pixels of a module, for PNG.", valueName: "count"))
  var scale = 8

  mutating func validate() throws {
    guard QRCode.scales.contains(scale) else {
      throw ValidationError("--scale must be \(QRCode.scales.lowerBound) to \(QRCode.scales.upperBound).")
    }
    if let out, !out.hasSuffix(".svg"), !out.hasSuffix(".png") { throw ValidationError("--out must end in .svg or .png.") }
  }

  func run() async throws {
    guard let url = LinkURL(link), url.isWeb, let code = QRCode(url.text) else {
      throw CommandError("\(link.printable) is no link of at most 2331 bytes.")
    }
    guard let out else { return DoubloonCommandLine.output.out(Array(code.svg().utf8)) }
    try FileBytes.write(out.hasSuffix(".png") ? code.png(scale: scale) : Array(code.svg().utf8), to: out)
  }
}
