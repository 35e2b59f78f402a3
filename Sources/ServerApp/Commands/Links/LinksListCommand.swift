import ArgumentParser
import TreeModel

/// `doubloon links list`: all short links, by address.
struct LinksListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List short links, by address.",
    discussion: """
      Examples:
        doubloon links list
        doubloon links list --limit 20 --after go.acme.test/r/aB3x
      """)

  @Option(help: ArgumentHelp("At most so many links.", valueName: "count"))
  var limit = 100

  @Option(help: ArgumentHelp("Go on behind this one.", valueName: "link"))
  var after: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") }
  }

  func run() async throws {
    var query = server.query + [QueryItem("limit", String(limit))]
    if let after { query.append(QueryItem("cursor", after.hasPrefix("https://") ? String(after.dropFirst(8)) : after)) }
    let parameters = query
    let answer = try await server.withClient { client in try await client.get(AdminPath.links, query: parameters) }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    let links = answer.listed("links")
    guard !links.isEmpty else { return "There are no links." }
    var table = TextTable([.text("LINK"), .text("NAME"), .text("INVITER"), .text("CREATED"), .text("OPENS")])
    for link in links {
      table.add([
        (link["shortLink"]?.string ?? "?") + (link["disabledAt"] == nil ? "" : " (disabled)"), link["name"]?.string ?? "-",
        link["inviter"]?.string ?? "-",
        link["createdAt"]?.timeText ?? "-", link["info"]?["link"]?.string ?? "-",
      ])
    }
    guard let next = answer["next"]?.string else { return table.render() }
    return table.render() + "\n\nThere may be more: add --after \(next.printable)."
  }
}
