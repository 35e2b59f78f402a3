import ArgumentParser

/// `doubloon accounts`: the players' accounts.
struct AccountsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accounts",
    abstract: "Players' accounts: list, show, create, disable, delete, erase, merge, import, export.",
    discussion: """
      Files of "firebase auth:export" can be imported, passwords and all, and what is exported here can be imported there.

      Examples:
        doubloon accounts list
        doubloon accounts show 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh
        doubloon accounts create --email ann@example.com --password-file -
        doubloon accounts import users.json --hash-config hash.json
        doubloon accounts export users.json
        doubloon accounts erase 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh --reason "asked for by mail"
      """,
    subcommands: [
      AccountsListCommand.self, AccountsShowCommand.self, AccountsCreateCommand.self, AccountsDisableCommand.self,
      AccountsEnableCommand.self, AccountsRemoveFactorsCommand.self, AccountsDeleteCommand.self, AccountsEraseCommand.self,
      AccountsErasuresCommand.self, AccountsMergeCommand.self, AccountsImportCommand.self, AccountsExportCommand.self,
    ])
}
