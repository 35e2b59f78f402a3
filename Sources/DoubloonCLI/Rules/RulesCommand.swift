import ArgumentParser

/// `doubloon rules`: who may read and write what.
struct RulesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rules",
    abstract: "Security rules: check, test, explain, get and put them.",
    discussion: """
      Rules say what a player's own client may read and write; administrators and functions are not bound. "check" and \
      "test" need no server.

      Examples:
        doubloon rules check rules.json
        doubloon rules test rules-test.json
        doubloon rules put rules.json
        doubloon rules explain set /users/bob/level 7 --as bob
        doubloon rules get
      """,
    subcommands: [
      RulesCheckCommand.self, RulesTestCommand.self, RulesExplainCommand.self, RulesGetCommand.self, RulesPutCommand.self,
    ])
}
