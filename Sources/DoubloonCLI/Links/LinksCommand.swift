import ArgumentParser

/// `doubloon links`: invitation links.
struct LinksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "links",
    abstract: "Invitation links: create, change, look at, count, bring along, print as codes.",
    discussion: """
      Links live on your own domains; name them first, with the apps that open them:

        doubloon links settings links.json

      where links.json holds at least {"domains": ["https://go.acme.test/r"], "hosts": ["acme.test"], \
      "apiKeys": ["a key for your apps"]}: where links begin, and the hosts that they may lead to.

      Examples:
        doubloon links create https://acme.test/play --prefix https://go.acme.test/r --short
        doubloon links stats https://go.acme.test/r/aB3x
        doubloon links disable https://go.acme.test/r/aB3x
        doubloon links import exported.csv --prefix https://go.acme.test/r --dry-run
        doubloon links qr https://go.acme.test/r/aB3x --out poster.svg
      """,
    subcommands: [
      LinksCreateCommand.self, LinksEditCommand.self, LinksDisableCommand.self, LinksEnableCommand.self,
      LinksDeleteCommand.self, LinksListCommand.self, LinksShowCommand.self, LinksStatsCommand.self, LinksImportCommand.self,
      LinksExportCommand.self, LinksQRCommand.self, LinksSettingsCommand.self,
    ])
}
