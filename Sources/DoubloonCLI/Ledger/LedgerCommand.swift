import ArgumentParser

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
        doubloon ledger verify
        doubloon ledger holds list
        doubloon ledger reverse 17 --reason "paid by mistake"
      """,
    subcommands: [
      LedgerBalanceCommand.self, LedgerStatementCommand.self, LedgerVerifyCommand.self, LedgerReverseCommand.self,
      LedgerTransferCommand.self, LedgerHoldsCommand.self,
    ])
}
