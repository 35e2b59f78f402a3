import ArgumentParser
import TreeModel

/// `doubloon accounts erasures`: who was erased.
struct AccountsErasuresCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erasures",
    abstract: "List the players who were erased, and erasures that are not done.",
    discussion: """
      Look here after you have restored a backup: whoever was erased since it was made has to be erased again.

      Examples:
        doubloon accounts erasures
        doubloon accounts erasures --json
      """)

  @Option(help: ArgumentHelp("At most so many.", valueName: "count"))
  var limit = 50

  @Option(help: ArgumentHelp("Go on where an earlier list ended.", valueName: "cursor"))
  var cursor: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") }
  }

  func run() async throws {
    let query =
      server.query + [QueryItem("limit", String(limit)), QueryItem("cursor", cursor)].compactMap(\.self)
    let answer = try await server.withClient { client in try await client.get(AdminPath.erasures, query: query) }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.text("UID"), .text("STATE"), .text("ORDERED"), .text("BY"), .text("REASON")])
    for erasure in answer.listed("erasures") {
      table.add([
        erasure["uid"]?.string ?? "?", erasure["state"]?.string ?? "?", erasure["orderedAt"]?.timeText ?? "-",
        erasure["by"]?.string ?? "-", erasure["reason"]?.string ?? "",
      ])
    }
    let text = table.isEmpty ? "Nobody was erased." : table.render()
    return answer["next"]?.string.map { text + "\n\nThere may be more: add --cursor '\($0)'." } ?? text
  }
}
