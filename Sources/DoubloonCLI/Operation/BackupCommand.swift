import AdminClient
import ArgumentParser
import NIOCore
import ServerConfiguration
import TreeModel

/// `doubloon backup`: has the server copy its store into one file.
struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy everything into one file, while others go on writing.",
    discussion: """
      The server writes the file, on its own machine: tree, log, ledger and what waits, of all namespaces, as of one \
      moment. The server's user alone can read it, and it cannot be in the data folder. "doubloon restore" makes a data \
      folder of it. The keys that sign players' tokens (DATA/keys) are not in it: copy them apart, or the tokens that are \
      out are void after a restore.

      Examples:
        doubloon backup /var/backups/doubloon-monday.db
        doubloon backup before-update.db --data .doubloon
      """)

  @Argument(help: ArgumentHelp("The file to write; one that is there is replaced.", valueName: "file"))
  var file: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let path = FileBytes.absolute(file)
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.post(AdminPath.backup, ["path": .string(path)], timeout: .hours(1))
    }
    output.print(answer) { _ in "The backup is in \(path)." }
  }
}
