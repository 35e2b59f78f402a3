import ArgumentParser
import ServerApp
import ServerConfiguration
import StorageCore
import TreeModel

/// `doubloon cluster …`: the nodes of a store in PostgreSQL.
struct ClusterCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cluster", abstract: "Look at the nodes of a store in PostgreSQL.",
    subcommands: [ClusterStatusCommand.self, ClusterReconcileCommand.self])
}

/// `doubloon cluster reconcile`: after PostgreSQL was brought back to an earlier moment.
struct ClusterReconcileCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reconcile",
    abstract: "Begin a new epoch after PostgreSQL was restored to an earlier moment.",
    discussion: """
      All nodes are stopped. Without it what happens after the restore would have the ids of what was lost by it, and programs that \
      remember ids would take the one for the other. The nodes' working copies need nothing: those that are ahead are made again.

      Examples:
        doubloon cluster reconcile --data /var/tmp/copy --config /etc/doubloon/doubloon.jsonc
      """)

  @Option(help: ArgumentHelp("A folder for the copy of the store that it takes.", valueName: "dir"))
  var data: String

  @OptionGroup
  var cluster: ClusterOptions

  @OptionGroup
  var output: OutputOptions

  func run() async throws {
    let epoch: Int64
    do throws(StorageError) {
      epoch = try EpochStart(try cluster.settingsOrFailure(), folder: data).run()
    } catch {
      throw CommandError(error.message, exitCode: error.code == .newerSchema ? 2 : 1)
    }
    output.print(["epoch": .int(epoch)]) { _ in "Epoch \(epoch) has begun. Start the nodes." }
  }
}

/// `doubloon cluster status`: who leads, who lives, what could be lost.
struct ClusterStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Say which node leads, which live, and whether anything could be lost.",
    discussion: """
      Asks PostgreSQL itself, so it needs no node. Exit codes: 0 a node leads and every acknowledged write is on two machines, 1 not so, \
      or PostgreSQL does not answer.

      Examples:
        doubloon cluster status --config /etc/doubloon/doubloon.jsonc
        doubloon cluster status --postgres postgresql://postgres@127.0.0.1/postgres --json
      """)

  @OptionGroup
  var cluster: ClusterOptions

  @OptionGroup
  var output: OutputOptions

  func run() async throws {
    let view: ClusterView
    do throws(StorageError) {
      let settings = try cluster.settingsOrFailure()
      // A connection string alone says nothing of it.
      view = try ClusterView(settings, allowsSingle: cluster.config != nil && settings.allowsSingle)
    } catch {
      throw CommandError(error.message)
    }
    let leads = view.nodes.contains { $0.leads && $0.isAlive }
    output.print([
      "term": .int(view.term), "batch": .int(view.batch), "leads": .bool(leads),
      "danger": view.danger.map { .string($0) } ?? .null,
      "base": view.base.map { ["batch": .int($0.batch), "bytes": .int($0.bytes)] } ?? .null, "logBytes": .int(view.logBytes),
      "nodes": .array(
        view.nodes.map { node in
          [
            "node": .string(node.name), "address": .string(node.address), "version": .string(node.version),
            "alive": .bool(node.isAlive), "leads": .bool(node.leads),
          ]
        }),
    ]) { _ in text(view) }
    if !leads || view.danger != nil { throw ExitCode(1) }
  }

  private func text(_ view: ClusterView) -> String {
    var table = TextTable([.text("node"), .text("address"), .text("version"), .text("state")])
    for node in view.nodes {
      let state = !node.isAlive ? "silent" : node.leads ? "leads" : "follows"
      table.add([
        node.name, node.address.isEmpty ? "-" : node.address, node.version, node.leads && !node.isAlive ? "led, silent" : state,
      ])
    }
    let base = view.base.map { "base of batch \($0.batch) (\($0.bytes / 1024) KB), " } ?? "no base, "
    return
      (table.lines(showsTitles: true) + [
        "Term \(view.term), batch \(view.batch); \(base)\(view.logBytes / 1024) KB of batches behind it.",
        view.danger ?? "Every acknowledged write is on more than one machine.",
      ]).joined(separator: "\n")
  }
}

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

extension ClusterOptions {
  /// The settings; what is wrong with them as what a command of stores says.
  func settingsOrFailure() throws(StorageError) -> ClusterSettings {
    do {
      return try settings()
    } catch let error as CommandError {
      throw StorageError(.failed, error.description)
    } catch {
      throw StorageError(.failed, "\(error)")
    }
  }
}
