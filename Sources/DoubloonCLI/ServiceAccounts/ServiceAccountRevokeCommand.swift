import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon service-account revoke`: ends an account, and the tokens it has.
struct ServiceAccountRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "End a service account; its tokens are void at once.",
    discussion: """
      The record stays, so that the audit log can be read. The name may be used again, the key cannot.

      Examples:
        doubloon service-account revoke ci
      """)

  @Argument(help: "The account's name.")
  var name: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.delete(AdminPath.serviceAccount(name))
    }
    output.print(answer) { _ in "\(name.printable) is revoked." }
  }
}
