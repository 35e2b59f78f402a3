import ArgumentParser

/// `doubloon triggers`: the trigger log.
struct TriggersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "triggers",
    abstract: "The trigger log: what changed, which functions ran, what came of it.",
    discussion: """
      Every change that a function's pattern matches is an event, with an id such as 1-42:/users/bob/level.

      Examples:
        doubloon triggers list --outcome dead
        doubloon triggers show 1-42:/users/bob/level
        doubloon triggers tail
      """,
    subcommands: [
      TriggersListCommand.self, TriggersCountCommand.self, TriggersShowCommand.self, TriggersTailCommand.self,
      TriggersAcknowledgeCommand.self,
    ],
    aliases: ["events"])
}
