import AdminClient
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

  @OptionGroup
  var choice: AccountChoice

  func run() async throws {
    try await choice.perform(saying: { "\($0) is disabled; nobody can sign in to it." }) { client in
      try await client.post("\(choice.path)/disable", query: choice.server.query)
    }
  }
}

/// `doubloon accounts enable`.
struct AccountsEnableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Let a player sign in again.",
    discussion: """
      Examples:
        doubloon accounts enable 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh
      """)

  @OptionGroup
  var choice: AccountChoice

  func run() async throws {
    try await choice.perform(saying: { "\($0) is enabled; its player can sign in again." }) { client in
      try await client.post("\(choice.path)/enable", query: choice.server.query)
    }
  }
}
