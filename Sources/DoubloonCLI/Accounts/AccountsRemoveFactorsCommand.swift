import AdminClient
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

  @OptionGroup
  var choice: AccountChoice

  func run() async throws {
    try await choice.perform(saying: { "\($0) has no second factor any more; its sessions ended." }) { client in
      try await client.delete("\(choice.path)/second-factors", query: choice.server.query)
    }
  }
}
