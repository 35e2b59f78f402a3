import ArgumentParser
import TreeModel

/// `doubloon accounts remove-factors`.
struct AccountsRemoveFactorsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove-factors",
    abstract: "Take every second factor from an account whose player lost the telephone; its sessions end.",
    discussion: """
      From then on the password, or what else the account has, is enough to sign in: be sure that it is the player who
      asks.

      Examples:
        doubloon accounts remove-factors 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh
      """)

  @Argument(help: "The account's uid, or its e-mail address.")
  var uid: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.delete("\(AdminPath.account(uid))/second-factors", query: server.query)
    }
    output.print(answer) { _ in "\(uid.printable) has no second factor any more; its sessions ended." }
  }
}
