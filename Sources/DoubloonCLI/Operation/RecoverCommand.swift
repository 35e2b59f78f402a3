import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
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
    guard FileBytes.isFolder(data) else { throw CommandError("There is no folder \(data).") }
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
      throw CommandError(error.message)
    }
  }
}

/// `doubloon verify`: proves that everything stored is what was written.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check everything that is stored, of all namespaces.",
    discussion: """
      The pages of the file; every row against what proves it; the tree, the history and the statements against the logs \
      that they follow from, and the index of referrals against the tree; the chains of commits, ledger entries and audit \
      records; who caused what. "log verify" and "ledger verify" are parts of it. It reads everything, while others go on \
      writing, and ends with exit code 1 if something is wrong: then keep the files, and restore the last backup into a \
      new folder.

      Examples:
        doubloon verify
        doubloon verify --data .doubloon
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.call(AdminSystem.verify, timeout: ReplayStartCommand.longTimeout)
    }
    output.print(answer) { Self.lines($0).joined(separator: "\n") }
    if !answer.value.sound { throw ExitCode(1) }
  }

  /// The report in sentences, the faults below them.
  static func lines(_ report: AdminSystem.Verification) -> [String] {
    var lines = part(
      "The store", extent: report.rows.counted("row", many: "rows"), faultCount: report.faultCount, faults: report.faults)
    for namespace in report.namespaces {
      let counts = [
        namespace.commits?.counted("commit", many: "commits"), namespace.executions?.counted("execution", many: "executions"),
        namespace.entries?.counted("ledger entry", many: "ledger entries"),
        namespace.ledgerAccounts?.counted("account", many: "accounts"),
        namespace.referrals?.counted("referral", many: "referrals"),
      ]
      let extent = counts.compactMap(\.self).joined(separator: ", ")
      lines += part(namespace.namespace, extent: extent, faultCount: namespace.faultCount, faults: namespace.faults)
    }
    return lines
  }

  private static func part(_ name: String, extent: String, faultCount: Int64, faults: [String]) -> [String] {
    let verdict = faultCount == 0 ? "sound" : "NOT SOUND, \(faultCount.counted("fault", many: "faults"))"
    return (["\(name): \(verdict) (\(extent))."] + faults.map { "  \($0)" }).map(\.printable)
  }
}
