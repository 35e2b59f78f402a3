import ArgumentParser
import TreeModel

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
      try await client.post(AdminPath.hold(hold, "void"), body, query: server.query)
    }
    output.print(answer) { LedgerTransferCommand.text($0) }
  }
}
