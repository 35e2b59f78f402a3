import AdminClient
import AdminModel
import ArgumentParser
import TreeModel

/// `doubloon ledger holds`: coins that wait.
struct LedgerHoldsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "holds",
    abstract: "Coins that wait: list them, set some aside, pay them out, give them back.",
    discussion: """
      A reward waits where its function's limits say that a person shall look at it, or until an address is confirmed. A hold \
      is named by the entry that made it, and ends once.

      Examples:
        doubloon ledger holds list --why limit
        doubloon ledger holds release 17 --reason "a school"
        doubloon ledger holds void --all --uid alice --reason "invented accounts" --dry-run
      """,
    subcommands: [
      LedgerHoldsListCommand.self, LedgerHoldsAddCommand.self, LedgerHoldsReleaseCommand.self, LedgerHoldsVoidCommand.self,
    ],
    defaultSubcommand: LedgerHoldsListCommand.self)
}

/// Which holds are meant.
struct HoldFilterOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Only those of this player.", valueName: "player"))
  var uid: String?

  @Option(help: ArgumentHelp("Only those in this currency.", valueName: "name"))
  var unit: String?

  @Option(help: ArgumentHelp("Only those whose reason has this text in it.", valueName: "text"))
  var why: String?

  @OptionGroup
  var span: TimeSpan

  var isEmpty: Bool { uid == nil && unit == nil && why == nil && span.since == nil && span.until == nil }

  /// The filter, for the server.
  func filter(after: Int64? = nil) -> AdminHolds.HoldFilter {
    AdminHolds.HoldFilter(uid: uid, unit: unit, reason: why, since: span.from, until: span.through, after: after)
  }
}

/// `doubloon ledger holds list`: what waits.
struct LedgerHoldsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List what is held, oldest first, with the reason.",
    discussion: """
      Examples:
        doubloon ledger holds list
        doubloon ledger holds list --uid alice
        doubloon ledger holds list --why limit --until 7d
      """)

  @OptionGroup(title: "Which")
  var filter: HoldFilterOptions

  @Option(help: ArgumentHelp("Only holds after this one.", valueName: "entry"))
  var after: Int64?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let query = AdminLedger.HoldQuery(
      uid: filter.uid, unit: filter.unit, reason: filter.why, since: filter.span.from, until: filter.span.through, after: after,
      limit: listing.count)
    listing.output.print(try await listing.page(of: AdminLedger.holds, query: query), Self.text)
  }

  static func text(_ list: AdminLedger.HoldList) -> String {
    var table = TextTable([
      .number("HOLD"), .text("TIME"), .text("FOR"), .number("AMOUNT"), .text("UNIT"), .text("ABOUT"), .text("WHY"),
    ])
    for hold in list.holds {
      table.add([
        String(hold.sequence), hold.time.text,
        hold.credit.hasPrefix("hold:") ? String(hold.credit.dropFirst("hold:".count)) : hold.credit, hold.amount.grouped,
        hold.unit, hold.subject ?? "-", hold.reason ?? "-",
      ])
    }
    return table.page(empty: "Nothing is held.", next: list.next.map { String($0) }, by: "--after")
  }
}
