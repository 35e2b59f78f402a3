import AdminClient
import ArgumentParser
import NIOHTTP1
import ServerConfiguration
import TreeModel

/// `doubloon data export`: writes a part of the tree into a file.
struct DataExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write what stands at a path into a JSON file.",
    discussion: """
      Priorities are included. More than a million values are read in parts, between which others may write; a backup \
      ("doubloon backup") is a picture of one moment, and holds the ledger too.

      Examples:
        doubloon data export / tree.json
        doubloon data export /users | gzip > users.json.gz
        doubloon data export /users --at yesterday users.json
      """)

  @Argument(help: "The place in the tree.", transform: TreeLocation.init(argument:))
  var path: TreeLocation

  @Argument(help: ArgumentHelp("The file; - or nothing for the standard output.", valueName: "file"))
  var file = "-"

  @Option(
    help: ArgumentHelp("As it was then, at most 100,000 values: \(TreeMoment.forms).", valueName: "time|revision"),
    transform: TreeMoment.init(argument:))
  var at: TreeMoment?

  @Flag(help: "Indent the JSON.")
  var pretty = false

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let bytes = try await server.withClient { client in
      if let at { return try await past(at, client) }
      var export = DataExport(client: client, query: server.query, isPretty: pretty, output: DoubloonCommandLine.output)
      return try await export.read(path)
    }
    if file == "-" { return DoubloonCommandLine.output.out(bytes + [UInt8(ascii: "\n")]) }
    try FileBytes.write(bytes + [UInt8(ascii: "\n")], to: file)
    DoubloonCommandLine.output.error("Exported \(path.text) to \(file) (\(bytes.count.grouped) bytes).")
  }

  private func past(_ moment: TreeMoment, _ client: AdminClient) async throws -> [UInt8] {
    let query =
      server.query + [
        QueryItem("path", path.text), QueryItem("format", "export"), moment.parameter(revision: "revision", time: "time"),
      ]
    let answer = try await client.send(
      .GET, AdminPath.data, query: query, timeout: DataTransfer.timeout, responseBytesMax: DataTransfer.responseBytesMax
    ).checked().json()
    DoubloonCommandLine.output.error("As of revision \(answer["revision"]?.plainText ?? "?").")
    let value = answer["value"] ?? .null
    return Array((pretty ? value.prettyText : value.compactText).utf8)
  }
}
