import AdminClient
import AdminModel
import ArgumentParser
import NIOHTTP1
import TreeModel

/// `doubloon data`: the tree, read and written as an administrator.
struct DataCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "data",
    abstract: "Read and write the tree.",
    discussion: """
      Paths are written like /users/bob; / is the whole tree. Values are JSON: a text needs its double quotes.

      Examples:
        doubloon data get /users/bob --pretty
        doubloon data set /users/bob/level 5
        doubloon data export / backup.json
        doubloon data get /users/bob --at yesterday
        doubloon data diff /users/bob --from 12h
        doubloon data log /users/bob/level
        doubloon data children /users --after bob
      """,
    subcommands: [
      DataGetCommand.self, DataChildrenCommand.self, DataSetCommand.self, DataUpdateCommand.self, DataRemoveCommand.self,
      DataImportCommand.self, DataExportCommand.self, DataDiffCommand.self, DataLogCommand.self,
    ])
}

/// `doubloon data get`: prints the value at a path.
struct DataGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print the value at a path.",
    discussion: """
      Prints JSON; null if there is nothing.

      Examples:
        doubloon data get /users/bob --pretty
        doubloon data get /users --shallow
        doubloon data get /users/bob/.priority
        doubloon data get /users/bob --at yesterday
        doubloon data get /users/bob --at 4711
      """)

  @Argument(help: "The place in the tree.", transform: PathArgument.init(argument:))
  var path: PathArgument

  @Option(
    help: ArgumentHelp("As it was then: \(TreeMoment.forms).", valueName: "time|revision"),
    transform: TreeMoment.init(argument:))
  var at: TreeMoment?

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
    if shallow, at != nil { throw ValidationError("--shallow shows the present only; leave out --at.") }
  }

  func run() async throws {
    if let at { return try await printPast(at) }
    var query = server.query
    if shallow { query.append(QueryItem("shallow", "true")) }
    if pretty { query.append(QueryItem("print", "pretty")) }
    if exportFormat { query.append(QueryItem("format", "export")) }
    let parameters = query
    let (response, others) = try await server.withClient { client in
      let response = try await client.send(
        .GET, path.urlPath, query: parameters, responseBytesMax: DataTransfer.responseBytesMax
      ).checked()
      return (response, try await otherNamespaces(response, client: client))
    }
    DoubloonCommandLine.output.out(response.body + [UInt8(ascii: "\n")])
    if !others.isEmpty {
      DoubloonCommandLine.output.error(
        "Nothing is in this namespace. There are others, which --ns names: \(others.joined(separator: ", ")).")
    }
  }

  /// The namespaces that may be meant where the whole tree is empty, and nobody said which tree.
  private func otherNamespaces(_ response: AdminResponse, client: AdminClient) async throws -> [String] {
    guard path.target.path.isRoot, server.namespace == nil, response.body.elementsEqual("null".utf8) else { return [] }
    let fallback = try await client.call(AdminSystem.status).value.defaultNamespace
    return try await client.call(AdminSystem.namespaces).value.namespaces.map(\.name).filter { $0 != fallback }.sorted()
  }

  /// Prints an earlier value; the revision goes beside the result, so that a pipe gets the value alone.
  private func printPast(_ moment: TreeMoment) async throws {
    let moment = moment.parameters
    let query = AdminHistory.Query(
      path: path.text, revision: moment.revision, time: moment.time, format: exportFormat ? .export : nil)
    let state = try await server.withClient { client in
      try await client.call(
        AdminHistory.state, query: query, namespace: server.namespace, responseBytesMax: DataTransfer.responseBytesMax
      ).value
    }
    DoubloonCommandLine.output.line(pretty ? state.value.prettyText : state.value.compactText)
    let time = state.time.map { " of \($0.text)" } ?? ""
    DoubloonCommandLine.output.error("As of revision \(state.revision)\(time).\(state.erased.text)")
  }
}
