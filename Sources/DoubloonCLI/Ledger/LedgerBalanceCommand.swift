import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon ledger balance`: how much an account has.
struct LedgerBalanceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "balance",
    abstract: "Print how much an account has.",
    discussion: """
      Minus the balance of issuance:signup is what was paid for sign-ups in all.

      Examples:
        doubloon ledger balance bob
        doubloon ledger balance issuance:signup --unit gems
      """)

  @Argument(help: "The account: a user, or a name such as issuance:signup.")
  var account: AccountName

  @Option(help: ArgumentHelp("The currency. (default: the game's only one)", valueName: "name"))
  var unit: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let query = server.query + [QueryItem("account", account.text)] + [QueryItem("unit", unit)].compactMap(\.self)
    let answer = try await server.withClient { client in try await client.get(AdminPath.balance, query: query) }
    output.print(answer) { Self.text($0, account: account.text, unit: unit) }
  }

  static func text(_ answer: JSON, account: String, unit: String?) -> String {
    let name = answer["account"]?.string ?? account
    return "\(name) has \(answer["balance"]?.int?.grouped ?? "?") \(answer["unit"]?.string ?? unit ?? "").".printable
  }
}
