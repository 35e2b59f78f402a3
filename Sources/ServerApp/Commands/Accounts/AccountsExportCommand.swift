import ArgumentParser
import TreeModel

/// `doubloon accounts export`: takes the players away again.
struct AccountsExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write all accounts into a file, as \"firebase auth:import\" reads it: JSON, or CSV if its name ends so.",
    discussion: """
      The file holds the hashes of the passwords: keep it as you would keep the passwords. Anonymous accounts are included.

      Examples:
        doubloon accounts export users.json
        doubloon accounts export users.csv
      """)

  @Argument(help: "The file; - or nothing for the standard output, as JSON.")
  var file = "-"

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let users = try await server.withClient { client in try await AccountTransfer.all(client, server) }
    let bytes = AccountFile.write(users, asCSV: file.hasSuffix(".csv"))
    if file == "-" { return DoubloonCommandLine.output.out(bytes) }
    try FileBytes.write(bytes, to: file)
    DoubloonCommandLine.output.error("Exported \(users.count) accounts to \(file).")
  }
}
