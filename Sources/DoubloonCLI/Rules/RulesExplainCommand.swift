import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon rules explain`: why an operation is allowed or denied.
struct RulesExplainCommand: AsyncParsableCommand {
  /// What is tried.
  enum Operation: String, ExpressibleByArgument, CaseIterable {
    case read
    case set
    case update
    case delete
  }

  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Say why an operation is allowed or denied, by the server's rules and data; nothing is done.",
    discussion: """
      Names the rule, its line, and the part of it that decided, with the values that it saw. Ends with exit code 1 if the \
      operation is denied.

      Examples:
        doubloon rules explain read /users/bob --as bob
        doubloon rules explain set /users/bob/level 7 --as bob
        doubloon rules explain update / '{"users/bob/name": "Bob"}' --auth '{"uid": "bob", "provider": "anonymous"}'
        doubloon rules explain read /scores --query '{"i": ".value", "l": 10, "vf": "r"}'
      """)

  @Argument(help: "read, set, update or delete.")
  var operation: Operation

  @Argument(help: "The place in the tree.", transform: TreeLocation.init(argument:))
  var path: TreeLocation

  @Argument(help: "Of a set or an update: JSON; or - for the standard input; or a file.")
  var value: String?

  @Option(name: .customLong("as"), help: ArgumentHelp("The player who asks: auth is {\"uid\": UID}.", valueName: "uid"))
  var player: String?

  @Option(help: ArgumentHelp("What auth is, as JSON. (default: null, nobody)", valueName: "json"))
  var auth: String?

  @Option(help: ArgumentHelp("Of a read: the query object of the socket protocol, as JSON.", valueName: "json"))
  var query: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    if player != nil, auth != nil { throw ValidationError("--as and --auth exclude each other.") }
    let takesValue = operation == .set || operation == .update
    if takesValue != (value != nil) {
      throw ValidationError(takesValue ? "A \(operation.rawValue) needs a value." : "A \(operation.rawValue) has no value.")
    }
  }

  func run() async throws {
    var body: [JSON.Member] = [
      JSON.Member(key: "operation", value: .string(operation.rawValue)), JSON.Member(key: "path", value: .string(path.text)),
    ]
    if let value { body.append(JSON.Member(key: "value", value: try JSONInput.value(value))) }
    if let player { body.append(JSON.Member(key: "auth", value: ["uid": .string(player)])) }
    if let auth { body.append(JSON.Member(key: "auth", value: try JSONInput.value(auth))) }
    if let query { body.append(JSON.Member(key: "query", value: try JSONInput.value(query))) }
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.explainRules, .object(body), query: server.query)
    }
    output.print(answer) { ($0["text"]?.string ?? "").printable }
    if answer["allowed"]?.bool != true { throw ExitCode(1) }
  }
}
