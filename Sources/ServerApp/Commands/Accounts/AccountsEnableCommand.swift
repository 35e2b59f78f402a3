import ArgumentParser
import TreeModel

/// `doubloon accounts enable`.
struct AccountsEnableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Let a player sign in again.",
    discussion: """
      Examples:
        doubloon accounts enable 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh
      """)

  @Argument(help: "The account's uid, or its e-mail address.")
  var uid: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.post("\(AdminPath.account(uid))/enable", query: server.query)
    }
    output.print(answer) { _ in "\(uid.printable) is enabled; its player can sign in again." }
  }
}
