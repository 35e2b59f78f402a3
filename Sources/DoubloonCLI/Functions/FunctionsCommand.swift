import ArgumentParser

/// `doubloon functions`: what runs, and what is held up.
struct FunctionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "functions",
    abstract: "The functions of this deployment: list, pause, resume, retry, invoke.",
    discussion: """
      Examples:
        doubloon functions list
        doubloon functions pause rewardReferrals --reason "pays too much"
        doubloon functions resume rewardReferrals
        doubloon functions retry rewardReferrals
      """,
    subcommands: [
      FunctionsListCommand.self, FunctionsPauseCommand.self, FunctionsResumeCommand.self, FunctionsRetryCommand.self,
      FunctionsInvokeCommand.self,
    ])
}
