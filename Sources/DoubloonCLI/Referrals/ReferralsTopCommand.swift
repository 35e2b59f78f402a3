import ArgumentParser
import TreeModel

/// `doubloon referrals top`: who brought most.
struct ReferralsTopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "List the players who brought most others.",
    discussion: """
      Examples:
        doubloon referrals top
        doubloon referrals top --limit 100 --json
      """)

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    listing.output.print(try await listing.page(of: AdminPath.topReferrers), Self.text)
  }

  static func text(_ answer: JSON) -> String {
    let top = answer.listed("top")
    guard !top.isEmpty else { return "Nobody brought anybody yet." }
    var table = TextTable([.text("PLAYER"), .number("BROUGHT"), .text("COINS")])
    for row in top {
      table.add([
        row["player"]?.string ?? "?", row["count"]?.int?.grouped ?? "?", ReferralsShowCommand.coins(row["coins"]),
      ])
    }
    return table.render()
  }
}
