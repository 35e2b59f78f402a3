import AdminClient
import ArgumentParser
import NIOHTTP1
import ServerConfiguration

/// `doubloon rules put`: replaces the rules.
struct RulesPutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Replace the rules; they hold from the next operation.",
    discussion: """
      Who listens to what the new rules do not allow is told, and listens no more. A file with a fault changes nothing.

      Examples:
        doubloon rules put rules.json
        doubloon rules put rules.json --dry-run
      """)

  @Argument(help: "The rules file; or - for the standard input.")
  var file: String

  @Flag(help: "Let the server check the file, and change nothing.")
  var dryRun = false

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let source = try RulesFile(file).source
    let query = server.query + (dryRun ? [QueryItem("dryRun", "true")].compactMap(\.self) : [])
    _ = try await server.withClient { client in
      try await client.send(.PUT, AdminPath.rules, query: query, body: Array(source.utf8)).checked()
    }
    DoubloonCommandLine.output.line(dryRun ? "The server would take the rules." : "The rules hold now.")
  }
}
