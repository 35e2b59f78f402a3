import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import ServerConfiguration
import TreeModel

/// `doubloon accounts`: the players' accounts.
struct AccountsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accounts",
    abstract:
      "Players' accounts: list, show, create, update, sessions, codes, disable, delete, erase, merge, import, export; tenants.",
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
      AccountsListCommand.self, AccountsShowCommand.self, AccountsCreateCommand.self, AccountsUpdateCommand.self,
      AccountsSessionsCommand.self, AccountsCodesCommand.self, AccountsDisableCommand.self,
      AccountsEnableCommand.self, AccountsRemoveFactorsCommand.self, AccountsDeleteCommand.self, AccountsEraseCommand.self,
      AccountsErasuresCommand.self, AccountsMergeCommand.self, AccountsImportCommand.self, AccountsExportCommand.self,
      AccountsTenantsCommand.self,
    ])
}

/// `doubloon accounts list`: who there is.
struct AccountsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List accounts, by uid.",
    discussion: """
      Examples:
        doubloon accounts list
        doubloon accounts list --limit 1000 --json
        doubloon accounts list --email alice@acme.test
        doubloon accounts list --q ali --state disabled
        doubloon accounts list --provider google.com --csv > accounts.csv
        doubloon accounts list --tenant Brand-A-x7k2m9qa
        doubloon accounts list --sort email
      """)

  @Option(
    help: ArgumentHelp(
      "Only behind this uid; with --q, --provider, --state or --sort the \"next\" of the page before.", valueName: "uid"))
  var after: String?

  @Option(help: ArgumentHelp("Only accounts whose uid or e-mail address begins so.", valueName: "text"))
  var q: String?

  @Option(help: ArgumentHelp("Only accounts with an identity of this provider: password, google.com.", valueName: "name"))
  var provider: String?

  @Option(help: ArgumentHelp("Only accounts in this state: enabled, disabled, anonymous.", valueName: "state"))
  var state: String?

  @Option(help: ArgumentHelp("Only the account with this telephone number.", valueName: "number"))
  var phone: String?

  @Option(help: ArgumentHelp("Only the account with this e-mail address.", valueName: "address"))
  var email: String?

  @Option(help: ArgumentHelp("By uid or email; by email only accounts that have an address are listed.", valueName: "order"))
  var sort: String?

  @Flag(help: "All of them as CSV, without limit, which the audit log records.")
  var csv = false

  @Option(help: ArgumentHelp("Only accounts of this tenant.", valueName: "name"))
  var tenant: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let state = try state.map { text in
      guard let state = AdminAccounts.State(rawValue: text) else {
        throw ValidationError("--state must be enabled, disabled or anonymous.")
      }
      return state
    }
    let sort = try sort.map { text in
      guard let sort = AdminAccounts.Order(rawValue: text) else { throw ValidationError("--sort must be uid or email.") }
      return sort
    }
    let query = AdminAccounts.Query(
      limit: listing.count, email: email, phone: phone, cursor: after, q: q, provider: provider, state: state,
      tenant: tenant, sort: sort)
    guard csv else {
      return listing.output.print(try await listing.page(of: AdminAccounts.list, query: query), Self.text)
    }
    let server = listing.server
    let table = try await server.withClient { client in
      try await AccountTable.text(of: query, from: client, namespace: server.namespace)
    }
    DoubloonCommandLine.output.line(table)
  }

  static func text(_ list: AdminAccounts.List) -> String {
    // Most games have no tenants, and no column of them.
    let hasTenants = list.accounts.contains { $0.tenantID != nil }
    var table = TextTable(
      [.text("UID"), .text("EMAIL"), .text("PROVIDERS"), .text("STATE"), .text("NAME")] + (hasTenants ? [.text("TENANT")] : []))
    for account in list.accounts {
      let providers = account.providerIDs
      table.add(
        [
          account.localID.printable, account.email?.printable ?? "-",
          providers.isEmpty ? "anonymous" : providers.joined(separator: ", "), account.isDisabled ? "disabled" : "active",
          account.displayName?.printable ?? "",
        ] + (hasTenants ? [account.tenantID?.printable ?? "-"] : []))
    }
    var text = table.isEmpty ? "There are no accounts." : table.render()
    if let next = list.next { text += "\n\nThere are more: add --after \(next.printable)." }
    return text
  }
}

/// `doubloon accounts show`: one account.
struct AccountsShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show one account, as JSON. Hashes of passwords are left out.",
    discussion: """
      Examples:
        doubloon accounts show 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh
        doubloon accounts show alice@acme.test
      """)

  @Argument(help: "The account's uid, or its e-mail address.")
  var uid: String

  @OptionGroup
  var among: TenantOption

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      let uid = try await among.uid(of: uid, client: client, namespace: server.namespace)
      return try await client.call(AdminAccounts.show, at: [uid], namespace: server.namespace)
    }
    DoubloonCommandLine.output.line(answer.json.prettyText)
  }
}

/// `doubloon accounts create`: makes an account.
struct AccountsCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Make an account.",
    discussion: """
      The password is read from a file, or from the standard input with -, so that it stands in no list of processes.

      Examples:
        doubloon accounts create --email ann@example.com --password-file -
        doubloon accounts create --uid ann --name Ann
      """)

  @Option(help: ArgumentHelp("The uid; a random one if it is not given.", valueName: "uid"))
  var uid: String?

  @Option(help: ArgumentHelp("The mail address.", valueName: "address"))
  var email: String?

  @Option(help: ArgumentHelp("The name to show.", valueName: "text"))
  var name: String?

  @Option(help: ArgumentHelp("The telephone number, with its plus.", valueName: "number"))
  var phone: String?

  @Option(help: ArgumentHelp("A file whose first line is the password.", valueName: "file"))
  var passwordFile: String?

  @Option(help: ArgumentHelp("The tenant whose player it is to be.", valueName: "name"))
  var tenant: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    if passwordFile != nil, email == nil { throw ValidationError("A password needs an address to sign in with: add --email.") }
  }

  func run() async throws {
    var members: [(String, String?)] = [("localId", uid), ("email", email), ("displayName", name), ("phoneNumber", phone)]
    if let passwordFile {
      let text = String(decoding: try FileBytes.read(passwordFile), as: UTF8.self)
      members.append(("password", text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""))
    }
    let body = JSON.object(members.compactMap { name, value in value.map { JSON.Member(key: name, value: .string($0)) } })
    let answer = try await server.withClient { client in
      try await client.post(try await AccountTransfer.path(client, server, "accounts", tenant: tenant), body)
    }
    output.print(answer) { "\($0["localId"]?.string?.printable ?? "?") is made." }
  }
}

/// The account that a command is about.
struct AccountArgument: ParsableArguments {
  @Argument(help: "The account's uid, or its e-mail address.")
  var uid: String

  @OptionGroup
  var among: TenantOption

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  /// The account's uid, or the address if the server is to look it up.
  func uid(_ client: AdminClient) async throws -> String {
    try await among.uid(of: uid, client: client, namespace: server.namespace)
  }

  /// Sends a request about the account, and prints the answer or a sentence.
  func perform<Answer>(
    saying sentence: (String) -> String, request: (AdminClient, String) async throws -> AdminAnswer<Answer>
  ) async throws {
    let answer = try await server.withClient { client in try await request(client, try await uid(client)) }
    output.print(answer) { _ in sentence(uid.printable) }
  }
}

/// `doubloon accounts disable`.
struct AccountsDisableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Let nobody sign in to an account; its tokens are void at once.",
    discussion: """
      Examples:
        doubloon accounts disable 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh
      """)

  @OptionGroup
  var choice: AccountArgument

  func run() async throws {
    try await choice.perform(saying: { "\($0) is disabled; nobody can sign in to it." }) { client, uid in
      try await client.call(AdminAccounts.disable, at: [uid], namespace: choice.server.namespace)
    }
  }
}

/// `doubloon accounts enable`.
struct AccountsEnableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Let a player sign in again.",
    discussion: """
      Examples:
        doubloon accounts enable 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh
      """)

  @OptionGroup
  var choice: AccountArgument

  func run() async throws {
    try await choice.perform(saying: { "\($0) is enabled; its player can sign in again." }) { client, uid in
      try await client.call(AdminAccounts.enable, at: [uid], namespace: choice.server.namespace)
    }
  }
}

/// `doubloon accounts remove-factors`.
struct AccountsRemoveFactorsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove-factors",
    abstract: "Take every second factor from an account whose player lost the telephone; its sessions end.",
    discussion: """
      From then on the password, or what else the account has, is enough to sign in: be sure that it is the player who
      asks.

      Examples:
        doubloon accounts remove-factors 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh
      """)

  @OptionGroup
  var choice: AccountArgument

  @OptionGroup
  var why: ReasonOption

  func run() async throws {
    try await choice.perform(saying: { "\($0) has no second factor any more; its sessions ended." }) { client, uid in
      try await client.call(
        AdminAccounts.removeSecondFactors, at: [uid], reason: why.reason, namespace: choice.server.namespace)
    }
  }
}

/// `doubloon accounts delete`: removes an account.
struct AccountsDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Remove an account. The player's record in the tree and the ledger stay.",
    discussion: """
      Functions that wait for deleted accounts run. A disabled account can come back, a deleted one cannot: in doubt, \
      "doubloon accounts disable". For a player who leaves and wants to be forgotten: "doubloon accounts erase".

      Examples:
        doubloon accounts delete 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh
      """)

  @OptionGroup
  var choice: AccountArgument

  @OptionGroup
  var why: ReasonOption

  func run() async throws {
    try await choice.perform(saying: { "\($0) is deleted." }) { client, uid in
      try await client.call(AdminAccounts.delete, at: [uid], reason: why.reason, namespace: choice.server.namespace)
    }
  }
}
