import ArgumentParser
import TreeModel

/// `doubloon replay pause`.
struct ReplayPauseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Stop a replay after what is on its way; \"resume\" goes on.",
    discussion: """
      Examples:
        doubloon replay pause 3
      """)

  @Argument(help: "The replay's number, as \"list\" prints it.")
  var id: Int64

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.replay(id) + "/pause", query: server.query)
    }
    output.print(answer, ReplayText.record)
  }
}
