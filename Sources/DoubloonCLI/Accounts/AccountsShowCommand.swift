import AdminClient
import ArgumentParser
import TreeModel

/// `doubloon accounts show`: one account.
struct AccountsShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show one account, as JSON. Hashes of passwords are left out.",
    discussion: """
      Examples:
        doubloon accounts show 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh
        doubloon accounts show alice@acme.test
      """)

  @Argument(help: "The account's uid, or its e-mail address.")
  var uid: String

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.get(AdminPath.account(uid), query: server.query)
    }
    DoubloonCommandLine.output.line(answer.prettyText)
  }
}
