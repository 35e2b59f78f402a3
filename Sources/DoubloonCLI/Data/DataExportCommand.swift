import AdminClient
import AdminModel
import ArgumentParser
import NIOHTTP1
import ServerConfiguration
import TreeModel

/// `doubloon data export`: writes a part of the tree into a file.
struct DataExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the value at a path into a JSON file.",
    discussion: """
      Priorities are included. It is the state of one moment, however large; a backup ("doubloon backup") holds the \
      ledger, the accounts and the log, too.

      Examples:
        doubloon data export / tree.json
        doubloon data export /users | gzip > users.json.gz
        doubloon data export /users --at yesterday users.json
      """)

  @Argument(help: "The place in the tree.", transform: PathArgument.init(argument:))
  var path: PathArgument

  @Argument(help: ArgumentHelp("The file; - or nothing for the standard output.", valueName: "file"))
  var file = "-"

  @Option(
    help: ArgumentHelp("As it was then: \(TreeMoment.forms).", valueName: "time|revision"),
    transform: TreeMoment.init(argument:))
  var at: TreeMoment?

  @Flag(help: "Indent the JSON.")
  var pretty = false

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    if path.target.isPriority { throw ValidationError("A priority is no document; \"doubloon data get\" shows it.") }
  }

  func run() async throws {
    let moment = at?.parameters
    var query = server.query + [QueryItem("path", path.text)]
    query += [QueryItem("revision", moment?.revision.map { "\($0)" })].compactMap(\.self)
    query += [QueryItem("time", moment?.time.map { "\($0.milliseconds)" })].compactMap(\.self)
    let parameters = query
    let response = try await server.withClient { client in
      try await client.send(
        .GET, AdminTree.export.path([]), query: parameters, timeout: DataTransfer.timeout,
        responseBytesMax: DataTransfer.responseBytesMax
      ).checked()
    }
    let output = DoubloonCommandLine.output
    let bytes = pretty ? Array(try response.json().prettyText.utf8) : response.body
    if at != nil, let revision = response.headers.first(name: "X-Doubloon-Revision") {
      let erased = response.headers.first(name: "X-Doubloon-Erased").map { " Without \($0) places of players who were erased." }
      output.error("As of revision \(revision).\(erased ?? "")")
    }
    if file == "-" { return output.out(bytes + [UInt8(ascii: "\n")]) }
    try FileBytes.write(bytes + [UInt8(ascii: "\n")], to: file)
    output.error("Exported \(path.text) to \(file) (\(bytes.count.grouped) bytes).")
  }
}
