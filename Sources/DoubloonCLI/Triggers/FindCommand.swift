import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon find`: what a text names.
struct FindCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Say what a text names: a player, an account, an event, an entry, a path, a link.",
    discussion: """
      Each kind is one look-up, so it is quick however much is stored; at most ten are shown.

      Examples:
        doubloon find bob
        doubloon find carol@acme.test
        doubloon find level5/bob
        doubloon find '#12'
      """)

  @Argument(
    help: "A uid, an e-mail address, an event's id, an entry's number or business key, a path, a short link, a code.")
  var text: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    if text.isEmpty { throw ValidationError("Say what is looked for.") }
  }

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.call(AdminFind.find, query: AdminFind.Query(q: text), namespace: server.namespace)
    }
    output.print(answer) { found in
      var table = TextTable([.text("KIND"), .text("ID"), .text("TITLE"), .text("DETAIL")])
      for hit in found.hits { table.add([hit.kind.rawValue, hit.id, hit.title, hit.detail ?? ""]) }
      return table.isEmpty ? "Nothing is called \(text.printable)." : table.render()
    }
  }
}
