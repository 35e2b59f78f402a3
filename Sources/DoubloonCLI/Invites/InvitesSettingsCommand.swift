import AdminClient
import ArgumentParser
import ServerConfiguration
import TreeModel

/// `doubloon invites settings`: campaigns, templates, limits.
struct InvitesSettingsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Show the settings of invitations, or replace them by a file.",
    discussion: """
      Examples:
        doubloon invites settings
        doubloon invites settings invites.json
      """)

  @Argument(help: "A JSON file with the new settings; - reads the standard input.")
  var file: String?

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let document = try file.map { try JSONInput.parse(FileBytes.read($0), from: $0) }
    let answer = try await server.withClient { client in
      if let document { return try await client.put(AdminPath.inviteSettings, document, query: server.query) }
      return try await client.get(AdminPath.inviteSettings, query: server.query)
    }
    DoubloonCommandLine.output.line(answer.prettyText)
  }
}
