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
      """)

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

  func run() async throws {
    let body = JSON(fields: [("reason", reason.map(JSON.string))])
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.hold(hold, "release"), body, query: server.query)
    }
    output.print(answer) { LedgerTransferCommand.text($0) }
  }
}
