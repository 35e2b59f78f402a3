import ArgumentParser

/// `doubloon invites`: invitations that players send.
struct InvitesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "invites",
    abstract: "Invitations: how far they came, what they say, who wants none.",
    discussion: """
      An invitation is queued, sent or failed, then opened, clicked, converted.

      Examples:
        doubloon invites list
        doubloon invites show 7Jd2…
        doubloon invites settings invites.json
        doubloon invites suppress bob@example.com --reason "asked by phone"
      """,
    subcommands: [InvitesListCommand.self, InvitesShowCommand.self, InvitesSettingsCommand.self, InvitesSuppressCommand.self])
}
