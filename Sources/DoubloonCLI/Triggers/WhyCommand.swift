import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon why`: why a player was paid, or was not.
struct WhyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Say why a player was paid or not, and what would repair it.",
    discussion: """
      Tells what each function made of every change at the player's places, what moved on the player's accounts, and what \
      became of others whose record names the player. Ends with the command to give where something is wrong.

      Examples:
        doubloon why bob
        doubloon why alice@acme.test
        doubloon why alice --reward rewardReferrals
        doubloon why bob --json
      """)

  @Argument(help: ArgumentHelp("The player: the uid, or the account's e-mail address.", valueName: "uid"))
  var uid: String

  @Option(help: ArgumentHelp("Only about this function.", valueName: "function"))
  var reward: String?

  @Option(help: ArgumentHelp("At most so many commits of each place.", valueName: "count"))
  var limit = 20

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...200).contains(limit) else { throw ValidationError("--limit must be 1 to 200.") }
    guard uid.contains("@") || (try? Key(uid)) != nil else {
      throw ValidationError("\"\(uid)\" is no player's id: it must be a legal key.")
    }
  }

  func run() async throws {
    let query = AdminWhy.Query(uid: uid, reward: reward, limit: Int64(limit))
    let answer = try await server.withClient { client in
      try await client.call(AdminWhy.ask, query: query, namespace: server.namespace)
    }
    output.print(answer) { $0.lines.map(\.printable).joined(separator: "\n") }
  }
}
