import ArgumentParser

/// `doubloon referrals`: who brought whom.
struct ReferralsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "referrals",
    abstract: "Who brought whom, and what it earned.",
    discussion: """
      The index follows the place that the functions declare: functions.referrer(at: …). A player called "top" is shown by \
      "doubloon referrals show top".

      Examples:
        doubloon referrals alice
        doubloon referrals top --limit 10
      """,
    subcommands: [ReferralsShowCommand.self, ReferralsTopCommand.self], defaultSubcommand: ReferralsShowCommand.self)
}
