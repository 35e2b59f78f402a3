import ArgumentParser
import TreeModel

/// `doubloon ledger holds list`: what waits.
struct LedgerHoldsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List what is held, oldest first, with the reason.",
    discussion: """
      Examples:
        doubloon ledger holds list
        doubloon ledger holds list --uid alice
      """)

  @Option(help: ArgumentHelp("Only those of this player.", valueName: "player"))
  var uid: String?

  @Option(help: ArgumentHelp("Only holds after this one.", valueName: "entry"))
  var after: Int64?

  @Option(help: ArgumentHelp("At most so many.", valueName: "count"))
  var limit = 50

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") }
  }

  func run() async throws {
    var query = server.query + [QueryItem("limit", String(limit))] + [QueryItem("uid", uid)].compactMap(\.self)
    if let after { query.append(QueryItem("after", String(after))) }
    let parameters = query
    let answer = try await server.withClient { client in try await client.get(AdminPath.holds, query: parameters) }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    let holds = answer.listed("holds")
    guard !holds.isEmpty else { return "Nothing is held." }
    var table = TextTable([
      .number("HOLD"), .text("TIME"), .text("FOR"), .number("AMOUNT"), .text("UNIT"), .text("ABOUT"), .text("WHY"),
    ])
    for hold in holds {
      let account = hold["credit"]?.string ?? "?"
      table.add([
        LedgerText.sequence(hold), hold["time"]?.timeText ?? "-",
        account.hasPrefix("hold:") ? String(account.dropFirst("hold:".count)) : account,
        hold["amount"]?.int?.grouped ?? "-", hold["unit"]?.string ?? "-", hold["subject"]?.string ?? "-",
        hold["reason"]?.string ?? "-",
      ])
    }
    guard let next = answer["next"]?.int else { return table.render() }
    return table.render() + "\n\nThere may be more: add --after \(next)."
  }
}
