import ArgumentParser

/// `doubloon audit`: what administrators did and tried.
struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "What administrators did and tried to do.",
    discussion: """
      Every change through the administrators' surface is recorded, refused ones too: accounts, rules, functions, replays, \
      the ledger, links, invitations, settings, and the store itself. What administrators write into the tree is in the \
      tree's own log, with who wrote it: doubloon data log PATH.

      Examples:
        doubloon audit list --since yesterday
        doubloon audit list --action ledger --result refused
      """,
    subcommands: [AuditListCommand.self])
}
