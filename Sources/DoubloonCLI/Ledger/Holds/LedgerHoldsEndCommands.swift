import AdminClient
import ArgumentParser
import TreeModel

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
  var to: AccountName?

  func run() async throws {
    try await ending.end(by: "release", [("to", (to?.text).map(JSON.string))])
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
    try await ending.end(by: "void")
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
  func end(by action: String, _ fields: [(String, JSON?)] = []) async throws {
    let body = JSON(fields: fields + [("reason", reason.map(JSON.string))])
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.hold(hold, action), body, query: server.query)
    }
    output.print(answer) { LedgerTransferCommand.text($0) }
  }
}
