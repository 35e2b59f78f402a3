import AdminClient
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

  @Option(help: ArgumentHelp("Go on where an earlier list ended.", valueName: "cursor"))
  var cursor: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let answer = try await listing.page(of: AdminPath.erasures, [QueryItem("cursor", cursor)])
    listing.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.text("UID"), .text("STATE"), .text("ORDERED"), .text("BY"), .text("REASON")])
    for erasure in answer.listed("erasures") {
      table.add([
        erasure["uid"]?.string ?? "?", erasure["state"]?.string ?? "?", erasure["orderedAt"]?.timeText ?? "-",
        erasure["by"]?.string ?? "-", erasure["reason"]?.string ?? "",
      ])
    }
    return table.page(of: answer, empty: "Nobody was erased.", next: "--cursor")
  }
}
