import AccessRules
import AdminClient
import AdminModel
import ArgumentParser
import NIOHTTP1
import ServerApp
import ServerConfiguration
import TreeModel

/// `doubloon rules`: who may read and write what.
struct RulesCommand: AsyncParsableCommand {
  /// Where the Realtime Database's REST surface has the rules.
  static let documentPath = "/.settings/rules.json"

  static let configuration = CommandConfiguration(
    commandName: "rules",
    abstract: "Security rules: check, test, explain, get and put them; their history.",
    discussion: """
      Rules say what a player's own client may read and write; administrators and functions are not bound. "check" and \
      "test" need no server.

      Examples:
        doubloon rules check rules.json
        doubloon rules test rules-test.json
        doubloon rules put rules.json
        doubloon rules explain set /users/bob/level 7 --as bob
        doubloon rules get
        doubloon rules history
      """,
    subcommands: [
      RulesCheckCommand.self, RulesTestCommand.self, RulesExplainCommand.self, RulesGetCommand.self, RulesPutCommand.self,
      RulesHistoryCommand.self, RulesRollbackCommand.self,
    ])
}

/// `doubloon rules check`: whether a rules file would be accepted.
struct RulesCheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a rules file, without a server.",
    discussion: """
      Every fault is a line "file:line:column: text", as compilers have it. Ends with exit code 1 if there is one.

      Examples:
        doubloon rules check rules.json
      """)

  @Argument(help: "The rules file; or - for the standard input.")
  var file: String

  func run() async throws {
    let rules = try RulesFile(file).rules
    let counts = rules.counts
    DoubloonCommandLine.output.line(
      "The rules are sound: \(Int64(counts.rules).counted("rule", many: "rules")) at "
        + "\(Int64(counts.places).counted("place", many: "places")), \(Int64(counts.indexes).counted("index", many: "indexes"))."
    )
  }
}

/// `doubloon rules get`: the rules that hold.
struct RulesGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print the rules that hold, as they were uploaded.",
    discussion: """
      Examples:
        doubloon rules get > rules.json
        doubloon rules get 3
      """)

  @Argument(help: "An earlier version, by its number or hash; \"doubloon rules history\" lists both.")
  var version: String?

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    if let version {
      let answer = try await server.withClient { client in
        try await client.call(AdminRules.version, at: [version], namespace: server.namespace)
      }
      return DoubloonCommandLine.output.line(answer.value.source.trimmingEnd)
    }
    let bytes = try await server.withClient { client in
      try await client.send(.GET, RulesCommand.documentPath, query: server.query).checked().body
    }
    DoubloonCommandLine.output.line(String(decoding: bytes, as: UTF8.self).trimmingEnd)
  }
}

extension String {
  /// Without line breaks at its end: the printer adds one.
  fileprivate var trimmingEnd: String {
    var text = self[...]
    while let last = text.last, last.isNewline { text.removeLast() }
    return String(text)
  }
}

/// `doubloon rules put`: replaces the rules.
struct RulesPutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Replace the rules; they hold from the next operation.",
    discussion: """
      Who listens to what the new rules do not allow is told, and listens no more. A file with a fault changes nothing.

      Examples:
        doubloon rules put rules.json
        doubloon rules put rules.json --reason 'levels go up by one only'
        doubloon rules put rules.json --dry-run
      """)

  @Argument(help: "The rules file; or - for the standard input.")
  var file: String

  @Flag(help: "Let the server check the file, and change nothing.")
  var dryRun = false

  @Option(help: "Why, for the history of the rules.")
  var reason: String?

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let source = try RulesFile(file).source
    let query = server.query + [QueryItem("dryRun", dryRun ? "true" : nil), QueryItem("reason", reason)].compactMap(\.self)
    _ = try await server.withClient { client in
      try await client.send(.PUT, RulesCommand.documentPath, query: query, body: Array(source.utf8)).checked()
    }
    DoubloonCommandLine.output.line(dryRun ? "The server would take the rules." : "The rules hold now.")
  }
}

/// `doubloon rules explain`: why an operation is allowed or denied.
struct RulesExplainCommand: AsyncParsableCommand {
  /// What is tried.
  typealias Operation = AdminAccess.Operation

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

  @Argument(help: "The place in the tree.", transform: PathArgument.init(argument:))
  var path: PathArgument

  @Argument(help: "Of a set or an update: JSON; or - for the standard input; or a file.")
  var value: String?

  @Option(name: .customLong("as"), help: ArgumentHelp("The player who asks: auth is {\"uid\": UID}.", valueName: "uid"))
  var player: String?

  @Option(help: ArgumentHelp("What auth is, as JSON. (default: null, nobody)", valueName: "json"))
  var auth: String?

  @Option(help: ArgumentHelp("The account that asks, signed in: its uid or e-mail address.", valueName: "account"))
  var account: String?

  @Option(help: ArgumentHelp("Of a read: the query object of the socket protocol, as JSON.", valueName: "json"))
  var query: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard [player, auth, account].count(where: { $0 != nil }) < 2 else {
      throw ValidationError("--as, --auth and --account exclude each other.")
    }
    let takesValue = operation == .set || operation == .update
    if takesValue != (value != nil) {
      throw ValidationError(takesValue ? "A \(operation.rawValue) needs a value." : "A \(operation.rawValue) has no value.")
    }
  }

  func run() async throws {
    let order = AdminAccess.ExplainOrder(
      operation: operation, path: path.text, value: try value.map(JSONInput.value),
      auth: try auth.map(JSONInput.value) ?? player.map { ["uid": .string($0)] }, account: account,
      query: try query.map(JSONInput.value))
    let answer = try await server.withClient { client in
      try await client.call(AdminAccess.explainRules, body: order, namespace: server.namespace)
    }
    output.print(answer, \.text.printable)
    if !answer.value.allowed { throw ExitCode(1) }
  }
}

extension AdminAccess.Operation: ExpressibleByArgument {}
