import AdminClient
import ArgumentParser
import TreeModel

/// The short link that a command is about.
struct LinkChoice: ParsableArguments {
  @Argument(help: "The short link.")
  var link: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  /// The parameters of a request about the link.
  var query: [QueryItem] { server.query + [QueryItem("link", link)] }

  /// Changes the link.
  ///
  /// - Returns: the link as it is now, and what is doubtful about what it says.
  func change(_ body: JSON) async throws -> JSON {
    try await server.withClient { client in try await client.patch(AdminPath.link, body, query: query) }
  }
}
