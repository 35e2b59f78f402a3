import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon invites suppress`: who gets no invitations any more.
struct InvitesSuppressCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "suppress",
    abstract: "Take an address off the list, let it back, or list those that are off.",
    discussion: """
      Examples:
        doubloon invites suppress
        doubloon invites suppress bob@example.com --reason "asked by phone"
        doubloon invites suppress bob@example.com --release
      """)

  @Argument(help: "The address; without one those that are off are listed.")
  var email: String?

  @Option(help: ArgumentHelp("Why.", valueName: "text"))
  var reason: String?

  @Flag(help: "Let the address get invitations again.")
  var release = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    guard let email else {
      let answer = try await server.withClient { client in
        try await client.get(AdminPath.suppressions, query: server.query + [QueryItem("limit", "1000")])
      }
      return output.print(answer, Self.text)
    }
    var members: [JSON.Member] = [
      JSON.Member(key: "email", value: .string(email)), JSON.Member(key: "release", value: .bool(release)),
    ]
    if let reason { members.append(JSON.Member(key: "reason", value: .string(reason))) }
    let body = JSON.object(members)
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.suppressions, body, query: server.query)
    }
    output.print(answer) { _ in
      release ? "\(email) may get invitations again.".printable : "\(email) gets no invitations any more.".printable
    }
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.text("ADDRESS"), .text("SINCE"), .text("WHY")])
    for row in answer.listed("suppressions") {
      table.add([row["email"]?.string ?? "?", row["at"]?.timeText ?? "-", row["reason"]?.string ?? "-"])
    }
    return table.isEmpty ? "Nobody is off the list." : table.render()
  }
}
