import ArgumentParser
import ServerApp
import ServerConfiguration
import StorageCore
import StorageSQLite
import Synchronization
import TreeModel

/// `doubloon upgrade`: brings the data of an older version up to date, or says what that would do.
struct UpgradeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upgrade",
    abstract: "Bring data that an older version wrote up to date.",
    discussion: """
      A server does this by itself when it starts on such data; here it can be looked at first, and done without a server. \
      The store is copied beside itself, changed in one transaction and verified before that is committed: whatever goes \
      wrong, it is as it was. The disk must have room for the copy and as much again.

      Other commands with --data do not change data of an older version; they say so. Data of a newer version are refused \
      by all, with exit code 2.

      Examples:
        doubloon upgrade --data .doubloon --dry-run
        doubloon upgrade --data .doubloon
        doubloon upgrade --data .doubloon --no-copy
      """)

  @Option(help: ArgumentHelp("The data folder; no server may have it open.", valueName: "dir"))
  var data: String

  @Flag(help: "Only say what would be done.")
  var dryRun = false

  @Flag(help: "Make no copy; for who has a backup.")
  var noCopy = false

  @OptionGroup
  var output: OutputOptions

  func run() async throws {
    guard FileBytes.exists("\(data)/doubloon.db") else { throw CommandError("There is no store in \(data).") }
    let (lines, isQuiet, schema) = (DoubloonCommandLine.output, output.json, DoubloonCommandLine.schema)
    let done = Mutex<UpgradePlan?>(nil)
    let policy = UpgradePolicy(
      mode: noCopy ? .uncopied : .copied, moment: UpgradePolicy.moment(SystemClock().now())
    ) { notice in
      if case .planned(let plan) = notice { done.withLock { $0 = plan } }
      if !isQuiet { lines.line(notice.description) }
    }
    do throws(StorageError) {
      if dryRun { return report(try SQLiteEngine.upgradePlan(directory: data, schema: schema, policy: policy), schema: schema) }
      try SQLiteEngine(directory: data, schema: schema, policy: policy).close()
    } catch {
      throw CommandError(error.message, exitCode: error.code == .newerSchema ? 2 : 1)
    }
    report(done.withLock { $0 }, schema: schema)
  }

  /// Says what was found; what was done has been said by then.
  private func report(_ plan: UpgradePlan?, schema: SchemaHistory) {
    guard let plan else {
      return output.print(["data": .string(data), "due": false, "schema": .int(Int64(schema.version))]) { _ in
        "Nothing is to be done: the store in \(data) is of this program's schema, \(schema.version)."
      }
    }
    let answer: JSON = [
      "data": .string(data), "due": true, "from": .int(Int64(plan.from)), "to": .int(Int64(plan.to)),
      "copy": plan.copy.map { .string($0) } ?? .null, "neededBytes": .int(plan.neededBytes),
      "freeBytes": plan.freeBytes.map { .int($0) } ?? .null, "done": .bool(!dryRun),
    ]
    if output.json || dryRun {
      output.print(answer) { _ in plan.description + (plan.fits ? "" : "\nThere is no room for that: it would be refused.") }
    }
  }
}
