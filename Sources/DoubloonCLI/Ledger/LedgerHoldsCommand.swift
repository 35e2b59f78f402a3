import AdminClient
import AdminModel
import ArgumentParser
import TreeModel

/// `doubloon ledger holds`: coins that wait.
struct LedgerHoldsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "holds",
    abstract: "Coins that wait: list them, pay them out, give them back.",
    discussion: """
      A reward waits where its function's limits say that a person shall look at it, or until an address is confirmed. A hold \
      is named by the entry that made it, and ends once.

      Examples:
        doubloon ledger holds list
        doubloon ledger holds release 17 --reason "a school"
        doubloon ledger holds void 18 --reason "invented accounts"
      """,
    subcommands: [LedgerHoldsListCommand.self, LedgerHoldsReleaseCommand.self, LedgerHoldsVoidCommand.self],
    defaultSubcommand: LedgerHoldsListCommand.self)
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
      """)

  @Option(help: ArgumentHelp("Only those of this player.", valueName: "player"))
  var uid: String?

  @Option(help: ArgumentHelp("Only holds after this one.", valueName: "entry"))
  var after: Int64?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let query = AdminLedger.HoldQuery(uid: uid, after: after, limit: listing.count)
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

/// `doubloon ledger holds release`: pays a hold out.
struct LedgerHoldsReleaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release",
    abstract: "Pay a hold out to the player for whom it waits.",
    discussion: """
      The same command again answers with the same entry.

      Examples:
        doubloon ledger holds release 17 --reason "a school"
        doubloon ledger holds release 17 --to user:alice --reason "a second account of hers"
      """)

  @OptionGroup
  var ending: HoldEndOptions

  @Option(
    help: ArgumentHelp("The account that gets the coins. (default: the player's for whom it waits)", valueName: "account"))
  var to: LedgerAccountArgument?

  func run() async throws {
    try await ending.end { client, server in
      try await client.call(
        AdminLedger.release, at: [String(ending.hold)],
        body: AdminLedger.ReleaseOrder(to: to?.text, reason: ending.reason), namespace: server.namespace)
    }
  }
}

/// `doubloon ledger holds void`: gives a hold back.
struct LedgerHoldsVoidCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "void",
    abstract: "Give a hold back to where it came from: nobody is paid.",
    discussion: """
      The same command again answers with the same entry.

      Examples:
        doubloon ledger holds void 17 --reason "invented accounts"
      """)

  @OptionGroup
  var ending: HoldEndOptions

  func run() async throws {
    try await ending.end { client, server in
      try await client.call(
        AdminLedger.void, at: [String(ending.hold)], body: AdminLedger.VoidOrder(reason: ending.reason),
        namespace: server.namespace)
    }
  }
}

/// Which hold ends, and why.
struct HoldEndOptions: ParsableArguments {
  @Argument(help: "The hold, as \"list\" prints it.")
  var hold: Int64

  @Option(help: ArgumentHelp("Why; kept with the entry.", valueName: "text"))
  var reason: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard hold > 0 else { throw ValidationError("Entries are numbered from 1.") }
  }

  /// Ends the hold and prints the entry.
  func end(_ request: (AdminClient, ServerOptions) async throws -> AdminAnswer<AdminLedger.Ended>) async throws {
    let answer = try await server.withClient { client in try await request(client, server) }
    output.print(answer) { LedgerTransferCommand.text($0.entry, isRepeated: $0.repeated) }
  }
}
