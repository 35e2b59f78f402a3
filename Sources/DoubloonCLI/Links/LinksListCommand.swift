import AdminClient
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

  @Option(help: ArgumentHelp("Go on behind this one.", valueName: "link"))
  var after: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let cursor = after.map { $0.hasPrefix("https://") ? String($0.dropFirst(8)) : $0 }
    let answer = try await listing.page(of: AdminPath.links, [QueryItem("cursor", cursor)])
    listing.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.text("LINK"), .text("NAME"), .text("INVITER"), .text("CREATED"), .text("OPENS")])
    for link in answer.listed("links") {
      table.add([
        (link["shortLink"]?.string ?? "?") + (link["disabledAt"] == nil ? "" : " (disabled)"), link["name"]?.string ?? "-",
        link["inviter"]?.string ?? "-",
        link["createdAt"]?.timeText ?? "-", link["info"]?["link"]?.string ?? "-",
      ])
    }
    return table.page(of: answer, empty: "There are no links.", next: "--after")
  }
}
