import ArgumentParser
import TreeModel

/// `doubloon accounts disable`.
struct AccountsDisableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Let nobody sign in to an account; its tokens are void at once.",
    discussion: """
      Examples:
        doubloon accounts disable 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh
      """)

  @Argument(help: "The account's uid, or its e-mail address.")
  var uid: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.post("\(AdminPath.account(uid))/disable", query: server.query)
    }
    output.print(answer) { _ in "\(uid.printable) is disabled; nobody can sign in to it." }
  }
}
