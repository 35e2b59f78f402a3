import AdminClient
import ArgumentParser
import TreeModel

/// What `doubloon replay pause`, `resume` and `cancel` share: the number of a replay, and one request about it.
struct ReplayStep: ParsableArguments {
  @Argument(help: "The replay's number, as \"list\" prints it.")
  var id: Int64

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  /// Takes the step, and prints the replay as it is then.
  func take(_ name: String) async throws {
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.replay(id) + "/\(name)", query: server.query)
    }
    output.print(answer, ReplayText.record)
  }
}
