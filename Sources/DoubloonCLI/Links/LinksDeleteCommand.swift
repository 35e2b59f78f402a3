import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon links delete`: takes a short link away.
struct LinksDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete a short link with its code; the address says that it is gone.",
    discussion: """
      What was claimed by it stays, for rewards rest on that. A disabled link can come back, a deleted one cannot: in doubt, \
      "doubloon links disable". No new link gets its suffix by chance; "links create --suffix" may choose it again.

      Examples:
        doubloon links delete https://go.acme.test/r/aB3x
      """)

  @OptionGroup
  var choice: LinkChoice

  func run() async throws {
    let answer = try await choice.server.withClient { client in try await client.delete(AdminPath.link, query: choice.query) }
    choice.output.print(answer) { "\($0["shortLink"]?.string ?? choice.link) is deleted.".printable }
  }
}
