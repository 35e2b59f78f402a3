import ArgumentParser

/// `doubloon replay`: gives events to functions again, or for the first time.
struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Give events to functions again: the failed ones, the gaps, or all. Nothing is paid twice.",
    discussion: """
      Look first: --dry-run prints what would change, and changes nothing. Without --yes the counts and the coins are \
      printed, and you are asked.

      Examples:
        doubloon replay --failed --function rewardReferrals --reason "fixed in 1.4.2"
        doubloon replay --gaps --function welcomeGift --reason "deployed late" --dry-run
        doubloon replay --event 1-42:/users/bob/level --reason "ticket 512"
        doubloon replay --all --reason "audit" --yes
        doubloon replay --rebuild
        doubloon replay list
        doubloon replay pause 3
      """,
    subcommands: [
      ReplayStartCommand.self, ReplayListCommand.self, ReplayShowCommand.self, ReplayPauseCommand.self,
      ReplayResumeCommand.self, ReplayCancelCommand.self,
    ],
    defaultSubcommand: ReplayStartCommand.self)
}
