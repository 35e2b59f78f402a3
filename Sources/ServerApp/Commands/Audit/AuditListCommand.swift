import ArgumentParser
import TreeModel

/// `doubloon audit list`: the audit log, newest first.
struct AuditListCommand: AsyncParsableCommand {
  /// Whether an action was done.
  enum Result: String, CaseIterable, ExpressibleByArgument {
    case ok, refused
  }

  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List what administrators did and tried, newest first.",
    discussion: """
      A record shows what was asked for in a few words; --json shows it whole, as far as it was kept.

      Examples:
        doubloon audit list
        doubloon audit list --actor admin:ann --since 7d
        doubloon audit list --action ledger.reverse --result refused
      """)

  @Option(help: ArgumentHelp("Only this action (ledger.reverse), or this kind of action (ledger).", valueName: "action"))
  var action: String?

  @Option(help: ArgumentHelp("Only of this actor (admin:ann), or this kind of actor (anonymous).", valueName: "actor"))
  var actor: String?

  @Option(help: "Only what was done, or only what was not.")
  var result: Result?

  @Option(
    help: ArgumentHelp("Only since then: \(TimePoint.forms).", valueName: "time"), transform: TimePoint.init(argument:))
  var since: TimePoint?

  @Option(help: ArgumentHelp("Only until then.", valueName: "time"), transform: TimePoint.init(argument:))
  var until: TimePoint?

  @Option(help: ArgumentHelp("Only before this record.", valueName: "id"))
  var before: Int64?

  @Option(help: ArgumentHelp("At most so many records.", valueName: "count"))
  var limit = 100

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") }
  }

  func run() async throws {
    let query =
      server.query
      + [
        QueryItem("action", action), QueryItem("actor", actor), QueryItem("result", result?.rawValue),
        QueryItem("since", (since?.milliseconds).map { String($0) }),
        QueryItem("until", (until?.milliseconds).map { String($0) }), QueryItem("before", before.map { String($0) }),
        QueryItem("limit", String(limit)),
      ].compactMap(\.self)
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.get(AdminPath.audits, query: query)
    }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    let actions = answer.listed("actions")
    var table = TextTable([.number("ID"), .text("TIME"), .text("BY"), .text("ACTION"), .text("RESULT"), .text("DETAIL")])
    for action in actions {
      table.add([
        action["id"]?.plainText ?? "-", action["time"]?.timeText ?? "-", action["actor"]?.string ?? "-",
        action["action"]?.string ?? "-", AuditDetail.cut(action["result"]?.string ?? "-"),
        AuditDetail.text(action["detail"] ?? .null),
      ])
    }
    var text = table.isEmpty ? "No records match." : table.render(within: DoubloonCommandLine.output.width)
    if let next = answer["next"]?.int { text += "\n\nThere may be more: add --before \(next)." }
    return text
  }
}
