import AdminClient
import AdminModel
import ArgumentParser
import TreeModel

/// `doubloon data set`: replaces the value at a path.
struct DataSetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Replace the value at a path.",
    discussion: """
      Functions see the change like any other, unless --no-triggers is given. Balances that change get an adjustment \
      in the ledger by themselves.

      Examples:
        doubloon data set /users/bob/level 5
        doubloon data set /users/bob/name '"Bob"'
        doubloon data set /users/bob/level 5 --dry-run
        doubloon data set /users/bob/level 5 --if-revision 812 --reason "lost in the outage"
        echo '{"a":1}' | doubloon data set /config -
      """)

  @Argument(help: "The place in the tree.", transform: PathArgument.init(argument:))
  var path: PathArgument

  @Argument(help: "JSON; or - for the standard input; or a file.")
  var value: String

  @OptionGroup
  var write: DataWriteOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let json = try JSONInput.value(value)
    if write.isExplained { return try await write.send(json.isNull ? .delete : .put, to: path, value: json, server: server) }
    let answer = try await server.withClient { client in
      try await client.put(path.urlPath, json, query: server.query + write.query)
    }
    write.report(answer, sentence: "Set \(path.text).")
  }
}

/// `doubloon data update`: changes several places at once.
struct DataUpdateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Change several places below a path, all or nothing.",
    discussion: """
      Takes an object whose names are paths below PATH; null removes. What is not named stays.

      Examples:
        doubloon data update /users/bob '{"level":5,"guild/name":"Sea Dogs","draft":null}'
      """)

  @Argument(help: "The place in the tree.", transform: PathArgument.init(argument:))
  var path: PathArgument

  @Argument(help: "A JSON object; or - for the standard input; or a file.")
  var value: String

  @OptionGroup
  var write: DataWriteOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let json = try JSONInput.value(value)
    guard let members = json.object else {
      throw ValidationError("An update takes an object, such as '{\"level\":5}'; to replace a value use \"doubloon data set\".")
    }
    if write.isExplained { return try await write.send(.patch, to: path, value: json, server: server) }
    let answer = try await server.withClient { client in
      try await client.patch(path.urlPath, json, query: server.query + write.query)
    }
    write.report(answer, sentence: "Updated \(members.count.counted("place", many: "places")) below \(path.text).")
  }
}

/// `doubloon data remove`: removes the value at a path, in parts if it is large.
struct DataRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove the value at a path.",
    discussion: """
      What is too large for one commit is removed in parts; an interruption leaves the rest. The ledger keeps its \
      entries: balances that vanish get an adjustment. The root needs --yes.

      Examples:
        doubloon data remove /users/bob
        doubloon data remove / --yes --no-triggers
      """,
    aliases: ["rm"])

  @Argument(help: "The place in the tree.", transform: PathArgument.init(argument:))
  var path: PathArgument

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
    if write.isExplained { return try await write.send(.delete, to: path, value: nil, server: server) }
    try await server.withClient { client in
      var transfer = DataTransfer(client: client, query: server.query + write.query, output: DoubloonCommandLine.output)
      try await transfer.remove(path)
    }
    write.report(.null, sentence: "Removed \(path.text).")
  }
}
