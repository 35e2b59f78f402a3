import ArgumentParser
import TreeModel

/// `doubloon replay cancel`.
struct ReplayCancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "End a replay after what is on its way.",
    discussion: """
      Examples:
        doubloon replay cancel 3
      """)

  @Argument(help: "The replay's number, as \"list\" prints it.")
  var id: Int64

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.replay(id) + "/cancel", query: server.query)
    }
    output.print(answer, ReplayText.record)
  }
}
