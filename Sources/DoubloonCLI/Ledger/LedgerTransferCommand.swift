import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon ledger transfer`: moves coins, once.
struct LedgerTransferCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfer",
    abstract: "Move coins from one account to another, once.",
    discussion: """
      --once names the transfer: the same command again answers with the first entry, and another transfer under a name \
      that is taken is refused. Without it a new one is made up and printed.

      A name with a colon is an account of the kind before it: user, issuance, redemption, hold or merge, and any other with \
      --any-kind. A player whose id has a colon is user:ID.

      Examples:
        doubloon ledger transfer issuance:support bob 50 --code support --reason "ticket 118" --once support/118
        doubloon ledger transfer bob alice 20 --dry-run
      """)

  @Argument(help: "The account that gives.")
  var from: LedgerAccountArgument

  @Argument(help: "The account that gets.")
  var to: LedgerAccountArgument

  @Argument(help: "How many coins.", transform: { try NegativeNumber.integer($0) })
  var amount: Int64

  @Option(help: ArgumentHelp("The currency. (default: the game's only one)", valueName: "name"))
  var unit: String?

  @Option(help: ArgumentHelp("Why, in one word of your program.", valueName: "word"))
  var code = "transfer"

  @Option(help: ArgumentHelp("What makes it the same transfer when it is asked for again.", valueName: "key"))
  var once: String?

  @Option(help: ArgumentHelp("Why, in a person's words.", valueName: "text"))
  var reason: String?

  @Flag(help: "Accept any word before the colon as the kind of an account.")
  var anyKind = false

  @Flag(help: "Only say what it would do.")
  var dryRun = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard amount > 0 else { throw ValidationError("The amount must be above zero; to move coins back, exchange the accounts.") }
    if !anyKind, let doubt = from.doubt ?? to.doubt { throw ValidationError(doubt) }
    guard from != to else { throw ValidationError("The two accounts must not be the same.") }
  }

  func run() async throws {
    let order = AdminLedger.TransferOrder(
      debit: from.text, credit: to.text, amount: amount, unit: unit, code: code,
      key: once ?? "transfer/\(RandomToken.make())", reason: reason)
    try await server.withClient { client in
      if dryRun {
        let preview = try await client.call(AdminLedger.previewTransfer, body: order, namespace: server.namespace)
        return output.print(preview) {
          LedgerText.preview($0.balances, spent: $0.spent, repeats: $0.repeats, refusal: $0.refusal?.error)
        }
      }
      let answer = try await client.call(AdminLedger.transfer, body: order, namespace: server.namespace)
      output.print(answer) { Self.text($0.entry, isRepeated: $0.repeated) }
    }
  }

  /// The entry that was made, or was there before.
  static func text(_ entry: AdminLedger.Entry, isRepeated: Bool) -> String {
    let sentence = LedgerText.sentence(entry)
    return (isRepeated ? "Done before; nothing was posted. \(sentence)" : sentence).printable
  }
}

/// `doubloon ledger reverse`: takes an entry back by another one.
struct LedgerReverseCommand: AsyncParsableCommand {
  /// What to do if the coins were spent.
  typealias Policy = AdminLedger.ReversalPolicy

  static let configuration = CommandConfiguration(
    commandName: "reverse",
    abstract: "Take an entry back by a new one the other way.",
    discussion: """
      The entry itself stays. An entry is reversed once; the same command again answers with the same reversal.

      Examples:
        doubloon ledger reverse 17 --reason "paid by mistake"
        doubloon ledger reverse 17 --reason "chargeback" --if-spent refuse
        doubloon ledger reverse 17 --dry-run
      """)

  @Argument(help: "The entry's number, as \"statement\" prints it.")
  var entry: Int64

  @Option(help: ArgumentHelp("Why; kept with the entry.", valueName: "text"))
  var reason: String?

  @Flag(help: "Only say what it would do.")
  var dryRun = false

  @Option(help: "If the coins were spent: let the balance go below zero, or refuse.")
  var ifSpent = Policy.allowNegative

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard entry > 0 else { throw ValidationError("Entries are numbered from 1.") }
    guard dryRun || reason?.isEmpty == false else { throw ValidationError("--reason must say why.") }
  }

  func run() async throws {
    try await server.withClient { client in
      if dryRun {
        let order = AdminLedger.ReversePreviewOrder(sequence: entry, reason: reason, policy: ifSpent)
        let preview = try await client.call(AdminLedger.previewReversal, body: order, namespace: server.namespace)
        return output.print(preview) {
          LedgerText.preview($0.balances, spent: $0.spent, repeats: $0.reversedBy, refusal: $0.refusal?.error)
        }
      }
      let order = AdminLedger.ReverseOrder(sequence: entry, reason: reason ?? "", policy: ifSpent)
      let answer = try await client.call(AdminLedger.reverse, body: order, namespace: server.namespace)
      output.print(answer) { LedgerTransferCommand.text($0.entry, isRepeated: $0.repeated) }
    }
  }
}

extension AdminLedger.ReversalPolicy: ExpressibleByArgument {}
