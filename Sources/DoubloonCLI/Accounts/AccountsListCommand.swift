import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon accounts list`: who there is.
struct AccountsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List accounts, by uid.",
    discussion: """
      Examples:
        doubloon accounts list
        doubloon accounts list --limit 1000 --json
        doubloon accounts list --email alice@acme.test
      """)

  @Option(help: ArgumentHelp("Only behind this uid.", valueName: "uid"))
  var after: String?

  @Option(help: ArgumentHelp("Only the account with this e-mail address.", valueName: "address"))
  var email: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let answer = try await listing.page(of: AdminPath.accounts, [QueryItem("cursor", after), QueryItem("email", email)])
    listing.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.text("UID"), .text("EMAIL"), .text("PROVIDERS"), .text("STATE"), .text("NAME")])
    for account in answer.listed("accounts") {
      let providers = account.listed("providerUserInfo").compactMap { $0["providerId"]?.string }
      table.add([
        account["localId"]?.string?.printable ?? "-", account["email"]?.string?.printable ?? "-",
        providers.isEmpty ? "anonymous" : providers.joined(separator: ", "),
        account["disabled"]?.bool == true ? "disabled" : "active", account["displayName"]?.string?.printable ?? "",
      ])
    }
    var text = table.isEmpty ? "There are no accounts." : table.render()
    if let next = answer["next"]?.string {
      text += "\n\nThere are \(answer["count"]?.int ?? 0) in all: add --after \(next.printable)."
    }
    return text
  }
}
