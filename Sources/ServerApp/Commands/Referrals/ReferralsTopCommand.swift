import ArgumentParser
import TreeModel

/// `doubloon referrals top`: who brought most.
struct ReferralsTopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "List the players who brought most others.",
    discussion: """
      Examples:
        doubloon referrals top
        doubloon referrals top --limit 100 --json
      """)

  @Option(help: ArgumentHelp("At most so many.", valueName: "count"))
  var limit = 20

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") }
  }

  func run() async throws {
    let query = server.query + [QueryItem("limit", String(limit))]
    let answer = try await server.withClient { client in try await client.get(AdminPath.topReferrers, query: query) }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    let top = answer.listed("top")
    guard !top.isEmpty else { return "Nobody brought anybody yet." }
    var table = TextTable([.text("PLAYER"), .number("BROUGHT"), .text("COINS")])
    for row in top {
      table.add([
        row["player"]?.string ?? "?", row["count"]?.int?.grouped ?? "?", ReferralsShowCommand.coins(row["coins"]),
      ])
    }
    return table.render()
  }
}
