import ArgumentParser
import TreeModel

/// `doubloon replay resume`.
struct ReplayResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Go on with a replay that was paused, or that failed.",
    discussion: """
      Examples:
        doubloon replay resume 3
      """)

  @Argument(help: "The replay's number, as \"list\" prints it.")
  var id: Int64

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.replay(id) + "/resume", query: server.query)
    }
    output.print(answer, ReplayText.record)
  }
}
