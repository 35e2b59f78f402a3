import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon functions resume`: goes on with the events that waited.
struct FunctionsResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Go on with a paused function and the events that waited.",
    discussion: """
      Examples:
        doubloon functions resume rewardReferrals
      """)

  @Argument(help: "The function's name.")
  var name: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.post(AdminPath.function(name, "resume"), query: server.query, timeout: ReplayStartCommand.patience)
    }
    output.print(answer) { _ in "\(name.printable) goes on." }
  }
}
