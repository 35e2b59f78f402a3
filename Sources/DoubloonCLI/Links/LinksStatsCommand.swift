import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

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
