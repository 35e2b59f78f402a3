import AdminClient
import ArgumentParser
import ServerApp
import StorageCore
import TreeModel

/// `doubloon functions invoke`: runs a function by hand.
struct FunctionsInvokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "invoke",
    abstract: "Run a function by hand, on a change that never happened.",
    discussion: """
      The function sees the change that you describe and the tree as it is now; what it pays and writes is committed, \
      once, under an id of its own. A key that was paid before pays nothing.

      Examples:
        doubloon functions invoke rewardReferrals --path /users/bob/level --before 4 --after 5 --as user:bob \\
          --reason "ticket 512"
      """)

  @Argument(help: "The function's name.")
  var name: String

  @Option(
    help: ArgumentHelp("Where the change is to have happened.", valueName: "path"), transform: TreeLocation.init(argument:))
  var path: TreeLocation

  @Option(help: ArgumentHelp("What stood there; left out for a creation.", valueName: "json"))
  var before: String?

  @Option(help: ArgumentHelp("What stands there now; left out for a deletion.", valueName: "json"))
  var after: String?

  @Option(
    name: .customLong("as"), help: ArgumentHelp("Who is to have written: user:bob, anonymous, admin:NAME.", valueName: "actor"))
  var actingAs: String?

  @Option(help: ArgumentHelp("Why; kept with the invocation.", valueName: "text"))
  var reason: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard before != nil || after != nil else { throw ValidationError("Give --before, --after, or both.") }
    guard !reason.isEmpty else { throw ValidationError("--reason must say why.") }
    if let actingAs, Actor(actingAs) == nil {
      throw ValidationError("--as must be an actor: user:bob, anonymous or admin:NAME.")
    }
  }

  func run() async throws {
    var members: [JSON.Member] = [
      .init(key: "path", value: .string(path.text)), .init(key: "reason", value: .string(reason)),
      .init(key: "before", value: try before.map(JSONInput.value) ?? .null),
      .init(key: "after", value: try after.map(JSONInput.value) ?? .null),
    ]
    if let actingAs { members.append(.init(key: "as", value: .string(actingAs))) }
    let body = JSON.object(members)
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.function(name, "invoke"), body, query: server.query)
    }
    output.print(answer) { answer in
      let reason = answer["reason"]?.string.map { ": \($0)" } ?? ""
      return "\(name) for \(answer["event"]?.string ?? "?"): \(answer["outcome"]?.string ?? "?")\(reason)".printable
    }
    if answer["outcome"]?.string == "failed" { throw ExitCode(1) }
  }
}
