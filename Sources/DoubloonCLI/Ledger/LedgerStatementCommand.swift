import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon ledger statement`: what moved on an account.
struct LedgerStatementCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statement",
    abstract: "List what moved on an account, newest first.",
    discussion: """
      Examples:
        doubloon ledger statement bob
        doubloon ledger statement issuance:level5 --limit 20 --before 400
      """)

  @Argument(help: "The account: a user, or a name such as issuance:signup.")
  var account: AccountName

  @Option(help: ArgumentHelp("Only entries before this one.", valueName: "entry"))
  var before: Int64?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let answer = try await listing.page(
      of: AdminPath.statement, [QueryItem("account", account.text), QueryItem("before", before.map { String($0) })])
    listing.output.print(answer) { Self.text($0, account: account.text, limit: listing.limit) }
  }

  static func text(_ answer: JSON, account: String, limit: Int) -> String {
    let entries = answer.listed("entries")
    guard !entries.isEmpty else { return "\(account.printable) has no entries." }
    var table = TextTable([
      .number("ENTRY"), .text("TIME"), .text("CODE"), .number("AMOUNT"), .number("BALANCE"), .text("UNIT"), .text("OTHER SIDE"),
      .text("CAUSE"),
    ])
    for entry in entries {
      let isCredit = entry["credit"]?.string == account
      let amount = entry["amount"]?.int ?? 0
      let after = isCredit ? entry["creditAfter"] : entry["debitAfter"]
      table.add([
        LedgerText.sequence(entry), entry["time"]?.timeText ?? "-", entry["code"]?.string ?? "-",
        isCredit ? "+\(amount.grouped)" : "-\(amount.grouped)", after?.int?.grouped ?? "-", entry["unit"]?.string ?? "-",
        (isCredit ? entry["debit"] : entry["credit"])?.string ?? "-", LedgerText.cause(entry),
      ])
    }
    var text = table.render()
    if entries.count == limit, let last = entries.last {
      text += "\n\nThere may be more: add --before \(LedgerText.sequence(last))."
    }
    return text
  }
}
