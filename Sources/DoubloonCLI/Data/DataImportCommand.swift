import AdminClient
import ArgumentParser
import ServerConfiguration
import TreeModel

/// `doubloon data import`: replaces a part of the tree by a file, in parts if it is large.
struct DataImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Replace the value at a path by a JSON file.",
    discussion: """
      The file is checked whole before anything is written. What is too large for one commit is written in parts; an \
      interruption leaves a part, and the same import may simply be run again. Functions do not see it unless \
      --triggers is given. Balances get opening entries in the ledger.

      Examples:
        doubloon data import / firebase-export.json
        doubloon data import /users users.json --ns my-game-default-rtdb
      """)

  @Argument(help: "The place in the tree.", transform: PathArgument.init(argument:))
  var path: PathArgument

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
      throw CommandError("\(name): \(error) Nothing was written.")
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
    DoubloonCommandLine.output.line("Imported \(count.counted("value", many: "values")) at \(path.text).")
  }
}

/// How much of a commit a value takes: its leaves, and about the bytes of their paths and values.
struct ImportWeight: Sendable, Equatable {
  /// As much as one request brings at first; a refusal makes it smaller still.
  struct Limit: Sendable {
    let leaves: Int
    let bytes: Int

    /// Well below what the server takes in one commit: the replaced value counts too, and other writers wait while a
    /// commit is made.
    static let plain = Limit(leaves: 10_000, bytes: 4 << 20)
    /// A commit makes 1,000 events at most, and a leaf may make several.
    static let withTriggers = Limit(leaves: 200, bytes: 1 << 20)
  }

  var leaves = 0
  var bytes = 0

  static let zero = ImportWeight()

  private init() {}

  /// Weighs a value whose path has that many bytes.
  init(_ json: JSON, pathBytes: Int) {
    add(json, pathBytes)
  }

  /// Whether the value goes into one request.
  func fits(_ limit: Limit) -> Bool { leaves <= limit.leaves && bytes <= limit.bytes }

  static func + (a: ImportWeight, b: ImportWeight) -> ImportWeight {
    var sum = a
    sum.leaves += b.leaves
    sum.bytes += b.bytes
    return sum
  }

  private mutating func add(_ json: JSON, _ pathBytes: Int) {
    switch json {
    case .null: return
    case .object(let members):
      for member in members { add(member.value, pathBytes + member.key.utf8.count + 2) }
    case .array(let elements):
      for element in elements { add(element, pathBytes + 6) }
    case .string(let text):
      leaves += 1
      bytes += pathBytes + text.utf8.count
    case .bool, .int, .double:
      leaves += 1
      bytes += pathBytes + 9
    }
  }
}
