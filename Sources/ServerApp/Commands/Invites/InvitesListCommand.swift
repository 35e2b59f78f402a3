import ArgumentParser
import TreeModel

/// `doubloon invites list`: invitations, newest first.
struct InvitesListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List invitations, newest first.",
    discussion: """
      Examples:
        doubloon invites list --limit 20
      """)

  @Option(help: ArgumentHelp("At most so many.", valueName: "count"))
  var limit = 50

  @Option(help: ArgumentHelp("Only those before this one.", valueName: "id"))
  var before: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") }
  }

  func run() async throws {
    var query = server.query + [QueryItem("limit", String(limit))]
    if let before { query.append(QueryItem("cursor", before)) }
    let parameters = query
    let answer = try await server.withClient { client in try await client.get(AdminPath.invites, query: parameters) }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    let invites = answer.listed("invites")
    guard !invites.isEmpty else { return "There are no invitations." }
    var table = TextTable([.text("ID"), .text("TIME"), .text("SENDER"), .text("CHANNEL"), .text("STATE"), .text("TO")])
    for invite in invites {
      table.add([
        invite["id"]?.string ?? "?", invite["createdAt"]?.timeText ?? "-", invite["sender"]?.string ?? "-",
        invite["channel"]?.string ?? "-", invite["state"]?.string ?? "-", invite["to"]?.string ?? "-",
      ])
    }
    guard let next = answer["next"]?.string else { return table.render() }
    return table.render() + "\n\nThere may be more: add --before \(next.printable)."
  }
}
