import AdminClient
import ArgumentParser
import TreeModel

/// `doubloon replay show`: one replay, and what became of what it gave.
struct ReplayShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print one replay with its counts, and what became of each event that it gave.",
    discussion: """
      Examples:
        doubloon replay show 3
        doubloon replay show 3 --limit 1000
      """)

  @Argument(help: "The replay's number, as \"list\" prints it.")
  var id: Int64

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let (server, limit) = (listing.server, listing.limit)
    let answer = try await server.withClient { client in
      let record = try await client.get(AdminPath.replay(id), query: server.query)
      let items = try await client.get(
        AdminPath.replay(id) + "/items", query: server.query + [QueryItem("limit", String(limit))])
      return JSON.object((record.object ?? []) + (items.object ?? []))
    }
    listing.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.text("EVENT"), .text("FUNCTION"), .text("NOW"), .text("REASON")])
    for item in answer.listed("items") {
      table.add([
        item["event"]?.string ?? "?", item["function"]?.string ?? "?", item["outcome"]?.string ?? "?",
        item["reason"]?.string ?? "",
      ])
    }
    let more = answer["next"] == nil ? "" : "\n(more with --limit)"
    return ReplayText.record(answer) + (table.isEmpty ? "" : "\n\n" + table.render() + more)
  }
}
