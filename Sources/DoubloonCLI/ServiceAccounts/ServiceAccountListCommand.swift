import AdminClient
import ArgumentParser
import TreeModel

/// `doubloon service-account list`: who may administer.
struct ServiceAccountListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the service accounts, revoked ones too, oldest first.",
    discussion: """
      Examples:
        doubloon service-account list
        doubloon service-account list --json
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.get(AdminPath.serviceAccounts)
    }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.text("NAME"), .text("ROLE"), .text("MADE"), .text("BY"), .text("REVOKED"), .text("KEY")])
    for account in answer.listed("serviceAccounts") {
      table.add([
        account["name"]?.string ?? "-", account["role"]?.string ?? "-", account["createdAt"]?.timeText ?? "-",
        account["createdBy"]?.string ?? "-", account["revokedAt"]?.timeText ?? "-", account["keyId"]?.string ?? "-",
      ])
    }
    return table.isEmpty ? "There are no service accounts. \"doubloon service-account create\" makes one." : table.render()
  }
}
