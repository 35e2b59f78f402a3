import AdminClient
import ArgumentParser
import TreeModel

/// `doubloon ledger reverse`: takes an entry back by another one.
struct LedgerReverseCommand: AsyncParsableCommand {
  /// What to do if the coins were spent.
  enum Policy: String, CaseIterable, ExpressibleByArgument {
    case allowNegative, refuse
  }

  static let configuration = CommandConfiguration(
    commandName: "reverse",
    abstract: "Take an entry back by a new one the other way.",
    discussion: """
      The entry itself stays. An entry is reversed once; the same command again answers with the same reversal.

      Examples:
        doubloon ledger reverse 17 --reason "paid by mistake"
        doubloon ledger reverse 17 --reason "chargeback" --if-spent refuse
      """)

  @Argument(help: "The entry's number, as \"statement\" prints it.")
  var entry: Int64

  @Option(help: ArgumentHelp("Why; kept with the entry.", valueName: "text"))
  var reason: String

  @Option(help: "If the coins were spent: let the balance go below zero, or refuse.")
  var ifSpent = Policy.allowNegative

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard entry > 0 else { throw ValidationError("Entries are numbered from 1.") }
    guard !reason.isEmpty else { throw ValidationError("--reason must say why.") }
  }

  func run() async throws {
    let body: JSON = ["sequence": .int(entry), "reason": .string(reason), "policy": .string(ifSpent.rawValue)]
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.reverse, body, query: server.query)
    }
    output.print(answer) { LedgerTransferCommand.text($0) }
  }
}
