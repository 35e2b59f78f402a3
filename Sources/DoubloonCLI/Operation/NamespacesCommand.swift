import AdminClient
import ArgumentParser
import TreeModel

/// `doubloon namespaces`: what the server or the folder holds.
struct NamespacesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "namespaces",
    abstract: "List the namespaces, each a tree with its own log and ledger.",
    discussion: """
      A command is about the server's default namespace, PROJECT-default-rtdb, unless --ns names another one. Clients name \
      theirs by the address of their database.

      Examples:
        doubloon namespaces
        doubloon namespaces --data .doubloon
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let (answer, fallback) = try await server.withClient(spansNamespaces: true) { client in
      (try await client.get(AdminPath.namespaces), try await client.get(AdminPath.status)["defaultNamespace"]?.string)
    }
    output.print(answer) { Self.text($0, default: fallback) }
  }

  static func text(_ answer: JSON, default fallback: String?) -> String {
    var table = TextTable([.text("NAMESPACE"), .text("CREATED"), .number("REVISION"), .number("LEDGER ENTRIES"), .text("")])
    for row in answer.listed("namespaces") {
      let name = row["name"]?.string ?? "?"
      table.add([
        name, row["createdAt"]?.timeText ?? "-", (row["revision"]?.int ?? 0).grouped, (row["entries"]?.int ?? 0).grouped,
        name == fallback ? "default" : "",
      ])
    }
    return table.isEmpty ? "There are no namespaces yet; one appears with the first write." : table.render()
  }
}
