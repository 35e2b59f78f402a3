import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon functions retry`: gives a function its dead letters once more.
struct FunctionsRetryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Give a function its dead letters once more.",
    discussion: """
      For when the cause is removed; those of one namespace. What a function did already is not done twice.

      Examples:
        doubloon functions retry rewardReferrals
      """)

  @Argument(help: "The function's name.")
  var name: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.function(name, "retry"), query: server.query)
    }
    output.print(answer) { answer in
      let count = answer["retried"]?.int ?? 0
      return "\(count.counted("dead letter", "dead letters")) of \(name.printable) will be tried again."
    }
  }
}
