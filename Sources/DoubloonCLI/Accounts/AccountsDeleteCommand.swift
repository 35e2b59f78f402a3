import AdminClient
import ArgumentParser
import TreeModel

/// `doubloon accounts delete`: removes an account.
struct AccountsDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Remove an account. The player's record in the tree and the ledger stay.",
    discussion: """
      Functions that wait for deleted accounts run. A disabled account can come back, a deleted one cannot: in doubt, \
      "doubloon accounts disable". For a player who leaves and wants to be forgotten: "doubloon accounts erase".

      Examples:
        doubloon accounts delete 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh
      """)

  @OptionGroup
  var choice: AccountChoice

  func run() async throws {
    try await choice.perform(saying: { "\($0) is deleted." }) { client in
      try await client.delete(choice.path, query: choice.server.query)
    }
  }
}
