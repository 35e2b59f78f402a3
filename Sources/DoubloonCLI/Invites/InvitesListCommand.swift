import AdminClient
import ArgumentParser
import TreeModel

/// `doubloon invites list`: invitations, newest first.
struct InvitesListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List invitations, newest first.",
    discussion: """
      Examples:
        doubloon invites list --limit 20
      """)

  @Option(help: ArgumentHelp("Only those before this one.", valueName: "id"))
  var before: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let answer = try await listing.page(of: AdminPath.invites, [QueryItem("cursor", before)])
    listing.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.text("ID"), .text("TIME"), .text("SENDER"), .text("CHANNEL"), .text("STATE"), .text("TO")])
    for invite in answer.listed("invites") {
      table.add([
        invite["id"]?.string ?? "?", invite["createdAt"]?.timeText ?? "-", invite["sender"]?.string ?? "-",
        invite["channel"]?.string ?? "-", invite["state"]?.string ?? "-", invite["to"]?.string ?? "-",
      ])
    }
    return table.page(of: answer, empty: "There are no invitations.", next: "--before")
  }
}
