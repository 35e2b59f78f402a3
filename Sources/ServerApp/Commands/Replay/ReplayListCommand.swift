import ArgumentParser
import TreeModel

/// `doubloon replay list`: what was replayed.
struct ReplayListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the replays, newest first.",
    discussion: """
      Examples:
        doubloon replay list
      """)

  @Option(help: ArgumentHelp("At most so many.", valueName: "count"))
  var limit: Int64 = 20

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") }
  }

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.get(AdminPath.replays, query: server.query + [QueryItem("limit", String(limit))])
    }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([
      .number("REPLAY"), .text("STATE"), .text("MODE"), .number("GIVEN"), .text("BEGUN"), .text("BY"), .text("REASON"),
    ])
    for replay in answer.listed("replays") {
      let order = replay["order"] ?? .null
      table.add([
        String(replay["id"]?.int ?? 0), replay["state"]?.string ?? "?", order["mode"]?.string ?? "?",
        (replay["progress"]?["given"]?.int ?? 0).grouped, (replay["createdAt"] ?? .null).timeText,
        order["actor"]?.string ?? "?", order["reason"]?.string ?? "",
      ])
    }
    return table.isEmpty ? "Nothing was replayed yet." : table.render()
  }
}
