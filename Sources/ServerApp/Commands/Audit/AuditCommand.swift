import ArgumentParser

/// `doubloon audit`: what administrators did and tried.
struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "What administrators did and tried to do.",
    discussion: """
      Every change through the administrators' surface is recorded, refused ones too.

      Examples:
        doubloon audit list --since yesterday
        doubloon audit list --action ledger --result refused
      """,
    subcommands: [AuditListCommand.self])
}
