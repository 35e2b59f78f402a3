import ArgumentParser
import StorageCore
import StorageSQLite
import TreeModel

/// `doubloon restore`: makes a data folder of a backup.
struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Make a data folder of a backup, and verify it.",
    discussion: """
      The folder must not hold data yet; no server is needed. The backup's hash chains and then the ledger of every \
      namespace are checked. What happens afterwards has other event ids than what was lost, so nothing is mistaken for \
      something that was paid already.

      Examples:
        doubloon restore doubloon-monday.db --data restored
        doubloon dev --data restored
      """)

  @Argument(help: ArgumentHelp("The backup.", valueName: "file"))
  var file: String

  @Option(help: ArgumentHelp("The folder to make.", valueName: "dir"))
  var data: String

  @OptionGroup
  var output: OutputOptions

  func run() async throws {
    guard FileBytes.exists(file), !FileBytes.isFolder(file) else {
      throw CommandFailure("There is no backup \(file).")
    }
    let epoch: Int64
    do {
      epoch = try SQLiteEngine.restore(from: file, to: data)
    } catch {
      throw CommandFailure(error.message)
    }
    let reports = try await ServerOptions.withApplication(on: data) { client in try await LedgerVerification.all(client) }
    let answer: JSON = [
      "data": .string(FileBytes.absolute(data)), "epoch": .int(epoch), "ledgers": .array(reports.map(\.json)),
    ]
    output.print(answer) { _ in
      (["Restored \(file) into \(data), epoch \(epoch)."] + reports.flatMap(\.lines)).joined(separator: "\n")
    }
    if !reports.allSatisfy(\.isSound) { throw ExitCode(1) }
  }
}
