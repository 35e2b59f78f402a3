import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon ledger`: balances, entries, corrections.
struct LedgerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ledger",
    abstract: "The ledger: balances, entries, audit, corrections.",
    discussion: """
      Entries are never changed or removed; a mistake is taken back by another entry. Accounts are called user:bob, \
      issuance:signup, adjustment; a name without a colon means a user.

      Examples:
        doubloon ledger balance bob
        doubloon ledger statement bob
        doubloon ledger accounts --prefix issuance:
        doubloon ledger verify
        doubloon ledger holds list
        doubloon ledger reverse 17 --reason "paid by mistake"
      """,
    subcommands: [
      LedgerBalanceCommand.self, LedgerStatementCommand.self, LedgerEntriesCommand.self, LedgerAccountsCommand.self,
      LedgerVerifyCommand.self, LedgerReverseCommand.self, LedgerTransferCommand.self, LedgerCompensateCommand.self,
      LedgerHoldsCommand.self,
    ])
}

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
  var account: LedgerAccountArgument

  @Option(help: ArgumentHelp("The currency. (default: the game's only one)", valueName: "name"))
  var unit: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let query = AdminLedger.BalanceQuery(account: account.text, unit: unit)
    let answer = try await server.withClient { client in
      try await client.call(AdminLedger.balance, query: query, namespace: server.namespace)
    }
    output.print(answer) { "\($0.account) has \($0.balance.grouped) \($0.unit).".printable }
  }
}

/// `doubloon ledger statement`: what moved on an account.
struct LedgerStatementCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statement",
    abstract: "List what moved on an account, newest first; oldest first with --after.",
    discussion: """
      Examples:
        doubloon ledger statement bob
        doubloon ledger statement issuance:level5 --limit 20 --before 400
        doubloon ledger statement bob --code signup
        doubloon ledger statement bob --since 7d
      """)

  @Argument(help: "The account: a user, or a name such as issuance:signup.")
  var account: LedgerAccountArgument

  @OptionGroup
  var place: EntryPlace

  @OptionGroup
  var span: TimeSpan

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let query = AdminLedger.StatementQuery(
      account: account.text, before: place.before, after: place.after, limit: listing.count, code: place.code,
      since: span.from, until: span.through)
    let answer = try await listing.page(of: AdminLedger.statement, query: query)
    listing.output.print(answer) { statement in
      Self.table(statement.entries, account: account.text).page(
        empty:
          "\(account.text.printable) has no \(place.code == nil && span.from == nil && span.through == nil ? "" : "such ")entries.",
        next: statement.next.map { String($0) }, by: place.nextOption)
    }
  }

  static func table(_ entries: [AdminLedger.Entry], account: String) -> TextTable {
    var table = TextTable([
      .number("ENTRY"), .text("TIME"), .text("CODE"), .number("AMOUNT"), .number("BALANCE"), .text("UNIT"), .text("OTHER SIDE"),
      .text("CAUSE"),
    ])
    for entry in entries {
      let isCredit = entry.credit == account
      table.add([
        String(entry.sequence), entry.time.text, entry.code, (isCredit ? "+" : "-") + entry.amount.grouped,
        (isCredit ? entry.creditAfter : entry.debitAfter).grouped, entry.unit, isCredit ? entry.debit : entry.credit,
        LedgerText.cause(entry),
      ])
    }
    return table
  }
}

/// A ledger account as a command's argument: `user:bob`, or `bob` for short.
struct LedgerAccountArgument: ExpressibleByArgument, Sendable, Hashable {
  /// Kinds that stand before the colon on every server; the holders of its own currencies are more.
  private static let kinds: Set<String> = ["user", "issuance", "redemption", "hold", "merge"]

  let text: String

  init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    // These two have no owner, and so no colon.
    let isWhole = argument.utf8.contains(UInt8(ascii: ":")) || argument == "adjustment" || argument == "opening"
    text = isWhole ? argument : "user:\(argument)"
  }

  /// What to write instead of a name that may be meant as a player's id, which may have a colon too; nil if it is clear.
  var doubt: String? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let kind = String(text[..<colon])
    guard !Self.kinds.contains(kind) else { return nil }
    return
      "\(text) is a player's id, or an account of the kind \(kind). For the player write user:\(text); for the account add --any-kind."
  }
}

/// Ledger entries as text.
enum LedgerText {
  /// A table of entries.
  static func table(of entries: [AdminLedger.Entry]) -> TextTable {
    var table = TextTable([
      .number("ENTRY"), .text("TIME"), .text("CODE"), .text("FROM"), .text("TO"), .number("AMOUNT"), .text("UNIT"),
      .text("CAUSE"),
    ])
    for entry in entries {
      table.add([
        String(entry.sequence), entry.time.text, entry.code, entry.debit, entry.credit, entry.amount.grouped, entry.unit,
        cause(entry),
      ])
    }
    return table
  }

  /// Amounts by unit: `50 pieces_of_eight, 2 gems`.
  static func coins(_ sums: NamedValues<Int64>) -> String {
    let parts = sums.members.map { "\($0.value.grouped) \($0.name)" }
    return parts.isEmpty ? "no coins" : parts.joined(separator: ", ")
  }

  /// What becomes of a balance.
  static func change(_ change: AdminLedger.BalanceChange) -> String {
    "  \(change.account): \(change.before.grouped) -> \(change.after.grouped) \(change.unit)".printable
  }

  /// What a transfer, a hold or a reversal would do.
  static func preview(
    _ balances: [AdminLedger.BalanceChange], spent: Bool = false, repeats: Int64? = nil, refusal: String? = nil
  ) -> String {
    let head =
      if let refusal {
        "It would be refused: \(refusal)".printable
      } else if let repeats {
        "Done before, by entry \(repeats); nothing would be posted."
      } else {
        "It would be posted\(spent ? "; the coins were spent, and the balance goes below zero" : "")."
      }
    return ([head] + balances.map { change($0) }).joined(separator: "\n")
  }

  /// One entry in a sentence.
  static func sentence(_ entry: AdminLedger.Entry) -> String {
    "Entry \(entry.sequence): \(entry.amount.grouped) \(entry.unit) from \(entry.debit) to \(entry.credit)"
      + " (\(entry.code), key \(entry.key))."
  }

  /// Why the entry exists: what a person wrote, or the event and function.
  static func cause(_ entry: AdminLedger.Entry) -> String {
    var parts = [entry.function, entry.event].compactMap(\.self)
    if let reverses = entry.reverses { parts.append("reverses \(reverses)") }
    if let reason = entry.reason { parts.append(reason) }
    if let referral = entry.referral { parts.append("invited by \(referral.inviter), \(referral.how) of \(referral.link)") }
    return parts.joined(separator: ", ")
  }
}
