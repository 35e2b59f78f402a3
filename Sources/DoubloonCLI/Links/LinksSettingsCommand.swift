import AdminClient
import ArgumentParser
import ServerApp
import ServerConfiguration
import TreeModel

/// `doubloon links settings`: domains, apps, keys, patterns.
struct LinksSettingsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Show the settings of links, or replace them by a file.",
    discussion: """
      Examples:
        doubloon links settings
        doubloon links settings links.json
      """)

  @Argument(help: "A JSON file with the new settings; - reads the standard input.")
  var file: String?

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let document = try file.map { try JSONInput.parse(FileBytes.read($0), from: $0) }
    let answer = try await server.withClient { client in
      if let document { return try await client.put(AdminPath.linkSettings, document, query: server.query) }
      return try await client.get(AdminPath.linkSettings, query: server.query)
    }
    DoubloonCommandLine.output.line(answer.prettyText)
    for warning in answer.listed("warnings") { DoubloonCommandLine.output.error("warning: \(warning.string ?? "")".printable) }
  }
}
