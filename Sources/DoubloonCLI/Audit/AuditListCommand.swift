import AdminClient
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
        doubloon audit list --actor admin:ann --since 7d --except data
        doubloon audit list --action ledger.reverse --result refused
      """)

  @Option(help: ArgumentHelp("Only this action (ledger.reverse), or this kind of action (ledger).", valueName: "action"))
  var action: String?

  @Option(help: ArgumentHelp("Not this action, or this kind of action: data.", valueName: "action"))
  var except: String?

  @Option(help: ArgumentHelp("Only of this actor (admin:ann), or this kind of actor (anonymous).", valueName: "actor"))
  var actor: String?

  @Option(help: "Only what was done, or only what was not.")
  var result: Result?

  @OptionGroup
  var span: TimeSpan

  @Option(help: ArgumentHelp("Only before this record.", valueName: "id"))
  var before: Int64?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let filter = [
      QueryItem("action", action), QueryItem("except", except), QueryItem("actor", actor),
      QueryItem("result", result?.rawValue), QueryItem("before", before.map { String($0) }),
    ]
    let answer = try await listing.page(of: AdminPath.audits, filter + span.query, spansNamespaces: true)
    listing.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.number("ID"), .text("TIME"), .text("BY"), .text("ACTION"), .text("RESULT"), .text("DETAIL")])
    for action in answer.listed("actions") {
      table.add([
        action["id"]?.plainText ?? "-", action["time"]?.timeText ?? "-", action["actor"]?.string ?? "-",
        action["action"]?.string ?? "-", AuditDetail.cut(action["result"]?.string ?? "-"),
        AuditDetail.text(action["detail"] ?? .null),
      ])
    }
    return table.page(of: answer, empty: "No records match.", next: "--before", within: DoubloonCommandLine.output.width)
  }
}
