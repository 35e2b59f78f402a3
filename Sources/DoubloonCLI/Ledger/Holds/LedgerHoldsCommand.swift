import ArgumentParser

/// `doubloon ledger holds`: coins that wait.
struct LedgerHoldsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "holds",
    abstract: "Coins that wait: list them, pay them out, give them back.",
    discussion: """
      A reward waits where its function's limits say that a person shall look at it, or until an address is confirmed. A hold \
      is named by the entry that made it, and ends once.

      Examples:
        doubloon ledger holds list
        doubloon ledger holds release 17 --reason "a school"
        doubloon ledger holds void 18 --reason "invented accounts"
      """,
    subcommands: [LedgerHoldsListCommand.self, LedgerHoldsReleaseCommand.self, LedgerHoldsVoidCommand.self],
    defaultSubcommand: LedgerHoldsListCommand.self)
}
