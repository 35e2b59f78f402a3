public import ArgumentParser
import FunctionsKit

/// The root of the command line: `doubloon`, and everything below it.
public struct DoubloonCommandLine: AsyncParsableCommand {
  /// The deployment's functions, for commands that start a server in their own process. `DoubloonServer.main` binds it.
  @TaskLocal package static var functions = FunctionRegistration { _ in }

  /// Where commands print.
  @TaskLocal package static var output = CommandOutput.standard

  /// Who is asked before something is done that cannot be undone.
  @TaskLocal static var question = CommandQuestion.terminal

  /// The name, the help text, and the commands in it.
  public static let configuration = CommandConfiguration(
    commandName: "doubloon",
    abstract: "A self-hosted referral rewards engine: a realtime tree, functions, and a ledger that pays once.",
    discussion: """
      Start with "doubloon dev": it serves on http://127.0.0.1:9000 and keeps its data in .doubloon/.
      The other commands talk to a running server (--server, --key; or DOUBLOON_SERVER and DOUBLOON_KEY in the \
      environment), or open a data folder that no server has open (--data).

      A first look around:
        doubloon dev
        doubloon data set /users/alice '{"referred_by":"bob","level":4}'
        doubloon data set /users/alice/level 5
        doubloon why alice
        doubloon triggers list
        doubloon ledger statement bob

      Exit codes: 0 done, 1 the thing asked for failed, 2 bad usage, or a faulty configuration.
      """,
    version: "doubloon 0.1.0",
    groupedSubcommands: [
      CommandGroup(name: "Serving", subcommands: [DevCommand.self, ServeCommand.self, ConfigCommand.self]),
      CommandGroup(name: "The tree", subcommands: [DataCommand.self, RulesCommand.self]),
      CommandGroup(name: "Players", subcommands: [AccountsCommand.self]),
      CommandGroup(
        name: "Rewards",
        subcommands: [
          WhyCommand.self, TriggersCommand.self, ReplayCommand.self, LedgerCommand.self, ReferralsCommand.self,
          FunctionsCommand.self,
        ]),
      CommandGroup(name: "Invitations", subcommands: [LinksCommand.self, InvitesCommand.self]),
      CommandGroup(
        name: "Operation",
        subcommands: [
          StatusCommand.self, NamespacesCommand.self, DrainCommand.self, AuditCommand.self, LogCommand.self, VerifyCommand.self,
          BackupCommand.self, RestoreCommand.self, RecoverCommand.self,
          ServiceAccountCommand.self,
        ]),
    ]
  )

  /// What the parser makes before it reads the arguments.
  public init() {}
}
