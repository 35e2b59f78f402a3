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
      Priorities are included. More than a million values are read in parts, between which others may write; a backup \
      ("doubloon backup") is a picture of one moment, and holds the ledger too.

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
    help: ArgumentHelp("As it was then, at most 100,000 values: \(TreeMoment.forms).", valueName: "time|revision"),
    transform: TreeMoment.init(argument:))
  var at: TreeMoment?

  @Flag(help: "Indent the JSON.")
  var pretty = false

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let bytes = try await server.withClient { client in
      if let at { return try await past(at, client: client) }
      var export = DataExport(client: client, query: server.query, isPretty: pretty, output: DoubloonCommandLine.output)
      return try await export.read(path)
    }
    if file == "-" { return DoubloonCommandLine.output.out(bytes + [UInt8(ascii: "\n")]) }
    try FileBytes.write(bytes + [UInt8(ascii: "\n")], to: file)
    DoubloonCommandLine.output.error("Exported \(path.text) to \(file) (\(bytes.count.grouped) bytes).")
  }

  private func past(_ moment: TreeMoment, client: AdminClient) async throws -> [UInt8] {
    let moment = moment.parameters
    let state = try await client.call(
      AdminHistory.state,
      query: AdminHistory.Query(path: path.text, revision: moment.revision, time: moment.time, format: .export),
      namespace: server.namespace, timeout: DataTransfer.timeout, responseBytesMax: DataTransfer.responseBytesMax
    ).value
    DoubloonCommandLine.output.error("As of revision \(state.revision).")
    return Array((pretty ? state.value.prettyText : state.value.compactText).utf8)
  }
}

/// Reads a part of the tree whole, in parts if it is too large for one answer.
struct DataExport {
  let client: AdminClient
  let query: [QueryItem]
  let isPretty: Bool
  private var progress: ProgressLine
  private var partCount = 0

  init(client: AdminClient, query: [QueryItem], isPretty: Bool, output: CommandOutput) {
    self.client = client
    self.query = query
    self.isPretty = isPretty
    progress = ProgressLine(output)
  }

  /// The JSON text, with priorities.
  mutating func read(_ path: PathArgument) async throws -> [UInt8] {
    defer { progress.clear() }
    if let whole = try await whole(path, isPretty: isPretty) { return whole }
    var writer = JSONWriter(pretty: false, capacity: 1 << 24)
    try await append(path, to: &writer)
    return writer.bytes
  }

  /// One answer's worth; nil if there is more.
  private func whole(_ path: PathArgument, isPretty: Bool = false) async throws -> [UInt8]? {
    var query = query + [QueryItem("format", "export")]
    if isPretty { query.append(QueryItem("print", "pretty")) }
    do {
      return try await client.send(
        .GET, path.urlPath, query: query, timeout: DataTransfer.timeout, responseBytesMax: DataTransfer.responseBytesMax
      ).checked().body
    } catch let error as AdminClientError where error.isTooLarge {
      return nil
    }
  }

  private mutating func append(_ path: PathArgument, to writer: inout JSONWriter) async throws {
    writer.beginObject()
    for name in try await client.childNames(of: path, query: query) {
      let child = PathArgument(path.target.path.child(name))
      writer.key(name.text)
      if let part = try await whole(child) {
        writer.raw(part)
      } else {
        try await append(child, to: &writer)
      }
      partCount += 1
      if partCount % 100 == 0 { progress.show("Read \(partCount.grouped) parts") }
    }
    if let priority = try await whole(PathArgument(priorityOf: path)), priority != Array("null".utf8) {
      writer.key(".priority")
      writer.raw(priority)
    }
    writer.endObject()
  }
}
