import ArgumentParser
import TreeModel

/// `doubloon data remove`: removes what stands at a place, in parts if it is large.
struct DataRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove what stands at a path.",
    discussion: """
      What is too large for one commit is removed in parts; an interruption leaves the rest. The ledger keeps its \
      entries: balances that vanish get an adjustment. The root needs --yes.

      Examples:
        doubloon data remove /users/bob
        doubloon data remove / --yes --no-triggers
      """,
    aliases: ["rm"])

  @Argument(help: "The place in the tree.", transform: TreeLocation.init(argument:))
  var path: TreeLocation

  @Flag(help: "Really remove the whole tree.")
  var yes = false

  @OptionGroup
  var write: DataWriteOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    if path.target.path.isRoot, !path.target.isPriority, !yes {
      throw ValidationError("This would remove the whole tree; add --yes if that is meant.")
    }
  }

  func run() async throws {
    try await server.withClient { client in
      var transfer = DataTransfer(client: client, query: server.query + write.query, output: DoubloonCommandLine.output)
      try await transfer.remove(path)
    }
    write.report(.null, "Removed \(path.text).")
  }
}
