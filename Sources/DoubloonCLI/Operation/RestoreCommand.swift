import AdminClient
import ArgumentParser
import ServerConfiguration
import StorageCore
import StorageSQLite
import TreeModel

/// `doubloon restore`: makes a data folder of a backup.
struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Make a data folder of a backup, and verify it.",
    discussion: """
      The folder must not hold data yet; no server is needed. Everything in it is checked, as by \
      "doubloon verify"; it ends with exit code 1 if something is wrong. What happens afterwards has other event \
      ids than what was lost, so nothing is mistaken for something that was paid already.

      The keys that sign players' tokens are not in a backup: copy the folder "keys" of the old data into the new one before \
      you start a server on it, or players have to sign in again.

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
    do {
      try SQLiteEngine.restore(from: file, to: data)
    } catch {
      throw CommandFailure("\(file) was not restored into \(data): \(error.message)")
    }
    let (epoch, report) = try await ServerOptions.withApplication(on: data) { client in
      // What the store says when it is opened again, as a server will have it.
      let epoch: JSON = try await client.get(AdminPath.status)["epoch"] ?? .null
      return (epoch, try await client.get(AdminPath.everything, timeout: ReplayStartCommand.patience))
    }
    let answer: JSON = [
      "data": .string(FileBytes.absolute(data)), "epoch": epoch, "verification": report,
    ]
    output.print(answer) { _ in
      let lines =
        ["Restored \(file) into \(data), epoch \(epoch.plainText)."] + VerifyCommand.lines(report)
        + [
          "The keys that sign players' tokens are not in a backup: copy DATA/keys of the old data to \(data)/keys, or players "
            + "have to sign in again."
        ]
      return lines.joined(separator: "\n")
    }
    guard report["sound"]?.bool == true else { throw ExitCode(1) }
  }
}
