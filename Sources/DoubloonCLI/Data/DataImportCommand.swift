import AdminClient
import ArgumentParser
import ServerConfiguration
import TreeModel

/// `doubloon data import`: replaces a part of the tree by a file, in parts if it is large.
struct DataImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Replace what stands at a path by a JSON file.",
    discussion: """
      The file is checked whole before anything is written. What is too large for one commit is written in parts; an \
      interruption leaves a part, and the same import may simply be run again. Functions do not see it unless \
      --triggers is given. Balances get opening entries in the ledger.

      Examples:
        doubloon data import / firebase-export.json
        doubloon data import /users users.json --ns my-game-default-rtdb
      """)

  @Argument(help: "The place in the tree.", transform: TreeLocation.init(argument:))
  var path: TreeLocation

  @Argument(help: ArgumentHelp("The JSON file; - for the standard input.", valueName: "file"))
  var file: String

  @Flag(inversion: .prefixedNo, help: "Whether functions see the change.")
  var triggers = false

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let name = file == "-" ? "the standard input" : file
    let json = try JSONInput.parse(try FileBytes.read(file), from: name)
    do {
      // The same reading as the server's: what it would refuse in the middle is refused before the start.
      _ = try WriteOperation.set(path.target, json: json)
    } catch {
      throw CommandFailure("\(name): \(error) Nothing was written.")
    }
    var query = server.query + [QueryItem("import", "true")]
    if !triggers { query.append(QueryItem("disableTriggers", "true")) }
    let parameters = query
    let count = ImportWeight(json, pathBytes: 0).leaves
    try await server.withClient { client in
      var transfer = DataTransfer(
        client: client, query: parameters, output: DoubloonCommandLine.output, chunk: triggers ? .withTriggers : .plain,
        total: count)
      try await transfer.replace(path, by: json)
    }
    DoubloonCommandLine.output.line("Imported \(count.counted("value", "values")) at \(path.text).")
  }
}
