import ArgumentParser

/// `doubloon service-account …`: who may administer a server.
struct ServiceAccountCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "service-account",
    abstract: "Who may administer: make, list and revoke service accounts.",
    discussion: """
      A service account is a name, a role and a key file. The file has Google's format, with this server as the place to \
      get access tokens, so that Firebase's admin SDKs sign in with it as it is; so does this command line (--key FILE). \
      The server keeps the public half of the key only.

      Roles, each with what the ones before it may:
        viewer   reads everything that administrators see
        support  repairs: replays, reversals, paused functions, dead letters; ends holds, to their owners or back
        admin    everything, the tree past its rules included

      Examples:
        doubloon service-account create ci --role support --url https://rewards.example.com
        doubloon service-account list
        doubloon service-account revoke ci
      """,
    subcommands: [ServiceAccountCreateCommand.self, ServiceAccountListCommand.self, ServiceAccountRevokeCommand.self])
}
