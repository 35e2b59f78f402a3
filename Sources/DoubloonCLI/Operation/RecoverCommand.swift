import ArgumentParser
import ServerConfiguration
import StorageCore
import StorageSQLite
import TreeModel

/// `doubloon recover`: goes on without what a damaged log has lost.
struct RecoverCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Give up what a damaged log has lost, so that the store opens again.",
    discussion: """
      A server does not start where something that it acknowledged is missing: the log (doubloon.db-wal) was damaged, \
      emptied or removed after the process died. Restoring a backup is the safe way. This is the other one: everything \
      before the damage stays, everything behind it is given up, the damaged log is kept beside the store, and events \
      get other ids from now on, as after a restore. Run "doubloon verify --data DIR" afterwards.

      Examples:
        doubloon recover --data .doubloon
        doubloon recover --data .doubloon --yes
      """)

  @Option(help: ArgumentHelp("The data folder.", valueName: "dir"))
  var data: String

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup
  var output: OutputOptions

  func run() async throws {
    guard FileBytes.isFolder(data) else { throw CommandFailure("There is no folder \(data).") }
    if !yes {
      let question = "Give up what the damaged log in \(data) has lost? This cannot be taken back."
      guard try DoubloonCommandLine.question.confirm(question) else { throw ExitCode(1) }
    }
    do throws(StorageError) {
      let (loss, kept) = try SQLiteEngine.acceptLoss(in: data)
      let answer: JSON = [
        "data": .string(FileBytes.absolute(data)), "lost": .string(loss), "kept": kept.map { .string($0) } ?? .null,
      ]
      output.print(answer) { _ in
        let copy = kept.map { " The damaged log is kept in \($0)." } ?? ""
        return "\(loss) The store goes on without it.\(copy) Check it with \"doubloon verify --data \(data)\"."
      }
    } catch {
      throw CommandFailure(error.message)
    }
  }
}
