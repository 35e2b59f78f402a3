import ArgumentParser
import NIOHTTP1

/// `doubloon data get`: prints what stands at a place.
struct DataGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print what stands at a path.",
    discussion: """
      Prints JSON; null if there is nothing.

      Examples:
        doubloon data get /users/bob --pretty
        doubloon data get /users --shallow
        doubloon data get /users/bob/.priority
      """)

  @Argument(help: "The place in the tree.", transform: TreeLocation.init(argument:))
  var path: TreeLocation

  @Flag(help: "Only the names of the children, not what is below them.")
  var shallow = false

  @Flag(help: "Indent the JSON.")
  var pretty = false

  @Flag(help: "Show priorities, as .priority and .value.")
  var exportFormat = false

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    if shallow, exportFormat { throw ValidationError("--shallow and --export-format exclude each other.") }
  }

  func run() async throws {
    var query = server.query
    if shallow { query.append(QueryItem("shallow", "true")) }
    if pretty { query.append(QueryItem("print", "pretty")) }
    if exportFormat { query.append(QueryItem("format", "export")) }
    let parameters = query
    let response = try await server.withClient { client in
      try await client.send(.GET, path.urlPath, query: parameters, responseBytesMax: DataTransfer.responseBytesMax).checked()
    }
    DoubloonCommandLine.output.out(response.body + [UInt8(ascii: "\n")])
  }
}
