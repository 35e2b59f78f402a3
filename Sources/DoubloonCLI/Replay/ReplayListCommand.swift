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

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    listing.output.print(try await listing.page(of: AdminPath.replays), Self.text)
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
