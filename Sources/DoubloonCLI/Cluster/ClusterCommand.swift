import ArgumentParser
import ServerApp
import ServerConfiguration
import StorageCore
import TreeModel

/// `doubloon cluster …`: the nodes of a store in PostgreSQL.
struct ClusterCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cluster", abstract: "Look at the nodes of a store in PostgreSQL.",
    subcommands: [
      ClusterStatusCommand.self, ClusterMoveCommand.self, ClusterForgetCommand.self, ClusterReconcileCommand.self,
    ])
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

/// `doubloon cluster forget`: a node that will not come back.
struct ClusterForgetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget",
    abstract: "Take a node that will not come back from the list of those that are looked after.",
    discussion: """
      A node that ends in order takes itself from the list. One that lives is listed again within a second, so nothing is lost by it.

      Examples:
        doubloon cluster forget db-host-2-1f3a9c --config /etc/doubloon/doubloon.jsonc
      """)

  @OptionGroup
  var options: NodeOptions

  func run() async throws {
    let node = options.node
    let isListed: Bool
    do throws(StorageError) {
      isListed = try ClusterView.forget(node, of: try options.cluster.settingsOrFailure())
    } catch {
      throw CommandError(error.message)
    }
    guard isListed else { throw CommandError("No node \(node.printable) is listed; \"doubloon cluster status\" lists them.") }
    options.output.print(["node": .string(node), "forgotten": .bool(true)]) { _ in
      "The node \(node.printable) is not listed any more."
    }
  }
}

/// `doubloon cluster move`: another node is to lead.
struct ClusterMoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Let another node lead: before work on the machine of the one that does.",
    discussion: """
      The node that leads ends its term in order, as when it is stopped, and goes on as one that follows. Players wait for a fraction of \
      a second. The other nodes leave the lease to the one that is named for two seconds; if it has died by then, any of them leads.

      Exit codes: 0 the node leads, 1 not so.

      Examples:
        doubloon cluster move db-host-2-1f3a9c --config /etc/doubloon/doubloon.jsonc
      """)

  @OptionGroup
  var options: NodeOptions

  func run() async throws {
    let node = options.node
    let result: ClusterView.Handover
    do throws(StorageError) {
      result = try ClusterView.hand(to: node, of: try options.cluster.settingsOrFailure())
    } catch {
      throw CommandError(error.message)
    }
    let name = node.printable
    switch result {
    case .done(let time):
      options.output.print(["node": .string(node), "leads": .bool(true), "milliseconds": .int(time)]) { _ in
        "The node \(name) leads, after \(time) ms."
      }
    case .leadsAlready:
      options.output.print(["node": .string(node), "leads": .bool(true), "milliseconds": .int(0)]) { _ in
        "The node \(name) leads already."
      }
    case .silent:
      throw CommandError(
        "No node \(name) shows that it lives; nothing was changed. \"doubloon cluster status\" lists the nodes.")
    case .late(let time):
      throw CommandError(
        "The node \(name) does not lead after \(time / 1000) s, and is not asked for any more. \"doubloon cluster status\" says who does."
      )
    }
  }
}

/// Which node a command is about, and how it says what it did.
struct NodeOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The node, as \"cluster status\" names it.", valueName: "node"))
  var node: String

  @OptionGroup
  var cluster: ClusterOptions

  @OptionGroup
  var output: OutputOptions
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
