import AdminClient
import AdminModel
import ArgumentParser
import Credentials
import ServerApp
import ServerConfiguration
import TreeModel

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

/// `doubloon service-account create`: a name, a role, and a key file that exists once.
struct ServiceAccountCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Make a service account and write its key file.",
    discussion: """
      The file is written for its owner alone (mode 0600), and nobody can ask for it again: if it is lost, revoke the \
      account and make another. --url is the address at which users of the file reach the server; it is written in \
      the file, and tokens are to be had there only.

      On a server without an administrator yet, stop it and make the first account on its data: \
      --data DIR --project ID --url https://….

      Examples:
        doubloon service-account create ci --role support --url https://rewards.example.com
        doubloon service-account create ann --role admin --out ~/ann.json
      """)

  @Argument(help: "The account's name: small letters, digits and hyphens.")
  var name: String

  @Option(
    help: ArgumentHelp("What it may do: viewer, support or admin.", valueName: "role"), transform: Self.role)
  var role: AdminRole

  @Option(help: ArgumentHelp("The server's address for the account. (default: the one that this command talks to)"))
  var url: String?

  @Option(help: ArgumentHelp("The file to write. (default: NAME.json)", valueName: "file"))
  var out: String?

  @Option(help: ArgumentHelp("Part of the account's address. (default: the server's project)", valueName: "id"))
  var project: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  private static func role(_ text: String) throws -> AdminRole {
    guard let role = AdminRole(rawValue: text) else { throw ValidationError("--role must be viewer, support or admin.") }
    return role
  }

  mutating func validate() throws {
    guard ServiceAccountKey.isLegal(name: name) else {
      throw ValidationError("The name must be 1 to 63 small letters, digits and hyphens, a letter first.")
    }
    if server.data != nil, url == nil {
      throw ValidationError("With --data, say with --url under which address the account will reach the server.")
    }
  }

  func run() async throws {
    let file = out ?? "\(name).json"
    guard !FileBytes.exists(file) else {
      throw CommandError("\(file) is there already; name another file with --out.")
    }
    let order = AdminAccess.ServiceAccountOrder(
      name: name, role: role.rawValue, project: project, server: url ?? server.address())
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.call(AdminAccess.createServiceAccount, body: order)
    }
    var writer = JSONWriter(pretty: true)
    writer.write(answer.value.key)
    do {
      try FileBytes.writeSecret(writer.bytes + Array("\n".utf8), to: file)
    } catch {
      throw CommandError(
        "\(error.message) The account was made, but its key is lost: doubloon service-account revoke \(name)")
    }
    output.print(["account": JSON(encoding: answer.value.account), "file": .string(file)]) { _ in
      "\(name) may sign in as \(role.rawValue). Its key is in \(file); keep it secret, it cannot be had again."
    }
  }
}

/// `doubloon service-account list`: who may administer.
struct ServiceAccountListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the service accounts, revoked ones too, oldest first.",
    discussion: """
      Examples:
        doubloon service-account list
        doubloon service-account list --json
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.call(AdminAccess.serviceAccounts)
    }
    output.print(answer, Self.text)
  }

  static func text(_ list: AdminAccess.ServiceAccountList) -> String {
    var table = TextTable([.text("NAME"), .text("ROLE"), .text("MADE"), .text("BY"), .text("REVOKED"), .text("KEY")])
    for account in list.serviceAccounts {
      table.add([
        account.name, account.role, account.createdAt.text, account.createdBy, account.revokedAt.text, account.keyID,
      ])
    }
    return table.isEmpty ? "There are no service accounts. \"doubloon service-account create\" makes one." : table.render()
  }
}

/// `doubloon service-account revoke`: ends an account, and the tokens it has.
struct ServiceAccountRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "End a service account; its tokens are void at once.",
    discussion: """
      The record stays, so that the audit log can be read. The name may be used again, the key cannot.

      Examples:
        doubloon service-account revoke ci
      """)

  @Argument(help: "The account's name.")
  var name: String

  @OptionGroup
  var why: ReasonOption

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.call(AdminAccess.revokeServiceAccount, at: [name], reason: why.reason)
    }
    output.print(answer) { _ in "\(name.printable) is revoked." }
  }
}
