import ArgumentParser

/// `doubloon log`: the commit log.
struct LogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "The commit log: prove it, or forget its old part.",
    discussion: """
      Examples:
        doubloon log verify
        doubloon log prune --before 90d --reason "retention" --dry-run
      """,
    subcommands: [LogVerifyCommand.self, LogPruneCommand.self])
}
