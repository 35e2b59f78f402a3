import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon functions pause`: gives a function no events until further notice.
struct FunctionsPauseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Give a function no more events; they wait.",
    discussion: """
      A run that is going on is finished. Nothing is lost: "doubloon functions resume" goes on with what waited.

      Examples:
        doubloon functions pause rewardReferrals --reason "pays too much"
      """)

  @Argument(help: "The function's name.")
  var name: String

  @Option(help: ArgumentHelp("Why; shown in the list.", valueName: "text"))
  var reason: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.post(AdminPath.function(name, "pause"), ["reason": .string(reason)], query: server.query)
    }
    output.print(answer) { _ in "\(name.printable) is paused; its events wait." }
  }
}
