import AdminClient
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
      LinksCreateCommand.self, LinksEditCommand.self, LinksDisableCommand.self, LinksEnableCommand.self,
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
      """)

  @Option(help: ArgumentHelp("Go on behind this one.", valueName: "link"))
  var after: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let cursor = after.map { $0.hasPrefix("https://") ? String($0.dropFirst(8)) : $0 }
    let answer = try await listing.page(of: AdminPath.links, [QueryItem("cursor", cursor)])
    listing.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.text("LINK"), .text("NAME"), .text("INVITER"), .text("CREATED"), .text("OPENS")])
    for link in answer.listed("links") {
      table.add([
        (link["shortLink"]?.string ?? "?") + (link["disabledAt"] == nil ? "" : " (disabled)"), link["name"]?.string ?? "-",
        link["inviter"]?.string ?? "-",
        link["createdAt"]?.timeText ?? "-", link["info"]?["link"]?.string ?? "-",
      ])
    }
    return table.page(of: answer, empty: "There are no links.", next: "--after")
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
    let answer = try await choice.server.withClient { client in try await client.get(AdminPath.link, query: choice.query) }
    choice.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var lines = [
      "link      \(answer["shortLink"]?.string ?? "?")", "opens     \(answer["info"]?["link"]?.string ?? "-")",
      "created   \(answer["createdAt"]?.timeText ?? "-")",
    ]
    for (label, key) in [("name", "name"), ("inviter", "inviter"), ("code", "code"), ("invite", "invitation")] {
      if let value = answer[key]?.string { lines.append(label.padded(10) + value) }
    }
    for (label, key) in [("changed", "changedAt"), ("disabled", "disabledAt")] {
      if let time = answer[key]?.timeText { lines.append(label.padded(10) + time) }
    }
    lines.append("says      \(answer["longLink"]?.string ?? "-")")
    return lines.map(\.printable).joined(separator: "\n")
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
    let query = server.query + [QueryItem("link", link), QueryItem("days", String(days))]
    let answer = try await server.withClient { client in try await client.get(AdminPath.linkStats, query: query) }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    let rows = answer.listed("days")
    guard !rows.isEmpty else {
      return "Nothing was counted of \(answer["link"]?.string ?? "the link") in these days.".printable
    }
    var table = TextTable([.text("DAY"), .text("PLATFORM"), .text("EVENT"), .number("COUNT")])
    for row in rows {
      table.add([
        row["day"]?.string ?? "-", row["platform"]?.string ?? "-", row["event"]?.string ?? "-",
        row["count"]?.int?.grouped ?? "-",
      ])
    }
    let totals = answer.listed("totals").map {
      "\($0["platform"]?.string ?? "") \($0["event"]?.string ?? ""): \($0["count"]?.string ?? "")"
    }
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
      if let document { return try await client.put(AdminPath.linkSettings, document, query: server.query) }
      return try await client.get(AdminPath.linkSettings, query: server.query)
    }
    DoubloonCommandLine.output.line(answer.prettyText)
    for warning in answer.listed("warnings") { DoubloonCommandLine.output.error("warning: \(warning.string ?? "")".printable) }
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
