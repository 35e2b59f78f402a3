import AdminClient
import ArgumentParser

/// `doubloon data set`: replaces what stands at a place.
struct DataSetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Replace what stands at a path.",
    discussion: """
      Functions see the change like any other, unless --no-triggers is given. Balances that change get an adjustment \
      in the ledger by themselves.

      Examples:
        doubloon data set /users/bob/level 5
        doubloon data set /users/bob/name '"Bob"'
        echo '{"a":1}' | doubloon data set /config -
      """)

  @Argument(help: "The place in the tree.", transform: TreeLocation.init(argument:))
  var path: TreeLocation

  @Argument(help: "JSON; or - for the standard input; or a file.")
  var value: String

  @OptionGroup
  var write: DataWriteOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let json = try JSONInput.value(value)
    let answer = try await server.withClient { client in
      try await client.put(path.urlPath, json, query: server.query + write.query)
    }
    write.report(answer, "Set \(path.text).")
  }
}
