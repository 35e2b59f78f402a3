import ArgumentParser
import ServerApp
import ServerConfiguration
import StorageCore
import TreeModel

/// `doubloon move`: a store from its data folder into PostgreSQL, or back.
struct MoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Take a store into PostgreSQL, or out of it.",
    discussion: """
      Into PostgreSQL: no server may have the data folder open. The whole store goes into PostgreSQL, whose ledger and executions are \
      guarded by its own keys from then on; the folder becomes a node's working copy, so that nobody goes on with it alone. With --config \
      the signing keys go along, sealed.

      Out of it, with --out: all nodes are stopped. The store goes into an empty folder and is one of its own; in PostgreSQL it stays as \
      it was, but no node leads it any more.

      Examples:
        doubloon move --data .doubloon --postgres postgresql://postgres@127.0.0.1/postgres
        doubloon move --data /var/lib/doubloon --config /etc/doubloon/doubloon.jsonc
        doubloon move --out --data restored --config /etc/doubloon/doubloon.jsonc
      """)

  @Option(help: ArgumentHelp("The data folder.", valueName: "dir"))
  var data: String

  @Flag(help: "Out of PostgreSQL, into an empty folder.")
  var out = false

  @OptionGroup
  var cluster: ClusterOptions

  @OptionGroup
  var output: OutputOptions

  func run() async throws {
    let report: StoreMove.Report
    do throws(StorageError) {
      let move = StoreMove(try cluster.settingsOrFailure(), folder: data)
      report = out ? try move.fromPostgres() : try move.toPostgres()
    } catch {
      throw CommandError(error.message, exitCode: error.code == .newerSchema ? 2 : 1)
    }
    output.print([
      "data": .string(data), "batch": .int(report.batch), "bytes": .int(report.bytes), "keys": .bool(report.hasKeys),
    ]) { _ in
      let keys =
        report.hasKeys ? "The signing keys went along." : "The signing keys did not: without --config each node has its own."
      return out
        ? "The store is in \(data), \(report.bytes / 1024) KB, up to batch \(report.batch). No node leads it in PostgreSQL any more. \(keys)"
        : "The store is in PostgreSQL, \(report.bytes / 1024) KB. \(data) is a working copy of it now. \(keys)"
    }
  }
}
