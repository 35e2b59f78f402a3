import ArgumentParser

/// `doubloon config …`: the file of `doubloon serve`.
struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Look at the configuration of \"doubloon serve\".",
    subcommands: [ConfigCheckCommand.self])
}
