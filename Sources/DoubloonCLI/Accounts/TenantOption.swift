import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TextFormats
import TreeModel

/// Which tenant's player a command means by an e-mail address.
struct TenantOption: ParsableArguments {
  @Option(help: ArgumentHelp("The tenant whose player has the e-mail address; a uid needs none.", valueName: "name"))
  var tenant: String?

  /// The uid that a text stands for: where a tenant is named, an address is looked up among its players.
  func uid(of text: String, client: AdminClient, namespace: String?) async throws -> String {
    guard let tenant, text.contains("@") else { return text }
    let found = try await client.call(
      AdminAccounts.list, query: AdminAccounts.Query(email: text, tenant: tenant), namespace: namespace)
    guard let account = found.value.accounts.first else {
      throw CommandError("No player of the tenant \(tenant) has the e-mail address \(text).")
    }
    return account.localID
  }
}

/// `doubloon accounts tenants`: the brands of a game, whose players are kept apart.
struct AccountsTenantsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tenants",
    abstract: "List, make and delete tenants: the players of one brand each, apart from all others'.",
    discussion: """
      Other settings of a tenant are changed over the Identity Toolkit: PATCH /v2/projects/PROJECT/tenants/NAME.

      Examples:
        doubloon accounts tenants list
        doubloon accounts tenants create "Brand-A" --switch-on --passwords
        doubloon accounts tenants delete Brand-A-x7k2m9qa --yes
      """,
    subcommands: [TenantsListCommand.self, TenantsCreateCommand.self, TenantsDeleteCommand.self])
}

/// `doubloon accounts tenants list`.
struct TenantsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List tenants, by name.",
    discussion: """
      Examples:
        doubloon accounts tenants list
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let tenants = try await server.withClient { client in try await AccountTransfer.tenants(client, server: server) }
    output.print(["tenants": .array(tenants)]) { answer in
      var table = TextTable([.text("TENANT"), .text("NAME"), .text("PASSWORDS"), .text("ANONYMOUS"), .text("STATE")])
      for tenant in answer.listed("tenants") {
        table.add([
          tenant["tenantId"]?.string?.printable ?? "?", tenant["displayName"]?.string?.printable ?? "-",
          tenant["allowPasswordSignup"]?.bool == true ? "yes" : "no",
          tenant["enableAnonymousUser"]?.bool == true ? "yes" : "no",
          tenant["disableAuth"]?.bool == true ? "disabled" : "active",
        ])
      }
      return table.isEmpty ? "There are no tenants." : table.render()
    }
  }
}

/// `doubloon accounts tenants create`.
struct TenantsCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Make a tenant; what its players may sign in by is said, or set later.",
    discussion: """
      Examples:
        doubloon accounts tenants create "Brand-A" --switch-on --passwords --anonymous
      """)

  @Argument(help: "The name to show; the tenant's own name begins with it.")
  var name: String

  @Flag(help: "Its players may have passwords.")
  var passwords = false

  @Flag(help: "Its players may sign in by links in mails.")
  var emailLinks = false

  @Flag(help: "Its players may begin anonymous.")
  var anonymous = false

  @Flag(help: "Let the project have tenants, if it may not yet.")
  var switchOn = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let body: JSON = [
      "displayName": .string(name), "allowPasswordSignup": .bool(passwords), "enableEmailLinkSignin": .bool(emailLinks),
      "enableAnonymousUser": .bool(anonymous),
    ]
    let made = try await server.withClient { client in
      if switchOn {
        _ = try await client.patch(
          try await AccountTransfer.path(client, server, "config", version: "v2"),
          ["multiTenant": ["allowTenants": true]], query: [QueryItem("updateMask", "multiTenant.allowTenants")])
      }
      return try await client.post(try await AccountTransfer.path(client, server, "tenants", version: "v2"), body)
    }
    output.print(made) { "\($0["tenantId"]?.string?.printable ?? "?") is made." }
  }
}

/// `doubloon accounts tenants delete`.
struct TenantsDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Remove a tenant with all its players' accounts. Their records in the tree and the ledger stay.",
    discussion: """
      Functions that wait for deleted accounts run. If it is cut off, give it again.

      Examples:
        doubloon accounts tenants delete Brand-A-x7k2m9qa --yes
      """)

  @Argument(help: "The tenant's own name, as the list shows it.")
  var tenant: String

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    if !yes {
      let question = "Delete the tenant \(tenant) and every account of it? This cannot be taken back."
      guard try DoubloonCommandLine.question.confirm(question) else { throw ExitCode(1) }
    }
    let answer = try await server.withClient { client in
      try await client.delete(
        try await AccountTransfer.path(client, server, "tenants/\(PercentEncoding.encode(tenant))", version: "v2"))
    }
    output.print(answer) { _ in "\(tenant.printable) is deleted." }
  }
}
