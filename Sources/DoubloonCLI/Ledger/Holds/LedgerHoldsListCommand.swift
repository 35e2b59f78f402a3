import AdminClient
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

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let answer = try await listing.page(
      of: AdminPath.holds, [QueryItem("uid", uid), QueryItem("after", after.map { String($0) })])
    listing.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([
      .number("HOLD"), .text("TIME"), .text("FOR"), .number("AMOUNT"), .text("UNIT"), .text("ABOUT"), .text("WHY"),
    ])
    for hold in answer.listed("holds") {
      let account = hold["credit"]?.string ?? "?"
      table.add([
        LedgerText.sequence(hold), hold["time"]?.timeText ?? "-",
        account.hasPrefix("hold:") ? String(account.dropFirst("hold:".count)) : account,
        hold["amount"]?.int?.grouped ?? "-", hold["unit"]?.string ?? "-", hold["subject"]?.string ?? "-",
        hold["reason"]?.string ?? "-",
      ])
    }
    return table.page(of: answer, empty: "Nothing is held.", next: "--after")
  }
}
