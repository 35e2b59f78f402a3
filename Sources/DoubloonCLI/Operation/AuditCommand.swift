import AdminClient
import AdminModel
import ArgumentParser
import TreeModel

/// `doubloon audit`: what administrators did and tried.
struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "What administrators did and tried to do.",
    discussion: """
      Every change through the administrators' surface is recorded, refused ones too: accounts, rules, functions, replays, \
      the ledger, links, invitations, settings, and the store itself. So is what administrators write into the tree, with \
      place and size (data.set, data.update, data.remove, data.import): up to twenty writes of each a minute one by one, and \
      with the next one how many more there were. All of them, with who wrote and what, are in the tree's own log: doubloon \
      data log PATH.

      Examples:
        doubloon audit list --since yesterday
        doubloon audit list --except data
        doubloon audit list --action ledger --result refused
      """,
    subcommands: [AuditListCommand.self])
}

/// `doubloon audit list`: the audit log, newest first.
struct AuditListCommand: AsyncParsableCommand {
  /// Whether an action was done.
  typealias Result = AdminLogs.AuditResult

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
    let query = AdminLogs.AuditQuery(
      action: action, except: except, actor: actor, result: result, since: span.from, until: span.through, before: before,
      limit: listing.count)
    listing.output.print(try await listing.page(of: AdminLogs.audits, query: query, spansNamespaces: true), Self.text)
  }

  static func text(_ page: AdminLogs.AuditPage) -> String {
    var table = TextTable([.number("ID"), .text("TIME"), .text("BY"), .text("ACTION"), .text("RESULT"), .text("DETAIL")])
    for action in page.actions {
      table.add([
        String(action.id), action.time.text, action.actor, action.action, AuditDetail.cut(action.result),
        AuditDetail.text(action.detail),
      ])
    }
    return table.page(
      empty: "No records match.", next: page.next.map { String($0) }, by: "--before",
      within: DoubloonCommandLine.output.width)
  }
}

/// What an administrator asked for, in a few words: `name pay, reason "bad deploy"`, `body rules {3 members}`.
enum AuditDetail {
  /// Characters of one value.
  private static let valueMax = 48

  static func text(_ detail: JSON) -> String {
    guard let members = detail.object else { return value(detail) }
    return members.map { member in
      switch member.key {
      case "bodyBytes": "body of \((member.value.int ?? 0).byteText)"
      case "body": body(member.value)
      default: "\(member.key) \(value(member.value))"
      }
    }.joined(separator: ", ")
  }

  /// A body by its members; what is nested by how much it is.
  private static func body(_ body: JSON) -> String {
    guard let members = body.object else { return "body \(value(body))" }
    return members.map { "\($0.key) \(value($0.value))" }.joined(separator: ", ")
  }

  private static func value(_ value: JSON) -> String {
    switch value {
    case .object(let members) where !members.isEmpty: "{\(members.count.counted("member", many: "members"))}"
    case .array(let elements) where !elements.isEmpty: "[\(elements.count.counted("element", many: "elements"))]"
    default: cut(value.plainText)
    }
  }

  /// A text that is not too long for a cell.
  static func cut(_ text: String) -> String {
    text.count <= valueMax ? text : "\(text.prefix(valueMax - 3))..."
  }
}

extension AdminLogs.AuditResult: ExpressibleByArgument {}
