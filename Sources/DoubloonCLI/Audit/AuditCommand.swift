import ArgumentParser

/// `doubloon audit`: what administrators did and tried.
struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "What administrators did and tried to do.",
    discussion: """
      Every change through the administrators' surface is recorded, refused ones too: accounts, rules, functions, replays, \
      the ledger, links, invitations, settings, and the store itself. So is what administrators write into the tree, with \
      place and size (data.set, data.update, data.remove, data.import): up to twenty writes of each a minute one by one, and \
      with the next one how many more there were. All of them, with who wrote and what, are in the tree's own log: doubloon \
      data log PATH.

      Examples:
        doubloon audit list --since yesterday
        doubloon audit list --except data
        doubloon audit list --action ledger --result refused
      """,
    subcommands: [AuditListCommand.self])
}
