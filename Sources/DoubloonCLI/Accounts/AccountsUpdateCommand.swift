import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// Why something is done, for the audit log.
struct ReasonOption: ParsableArguments {
  @Option(help: ArgumentHelp("Why, for the audit log.", valueName: "text"))
  var reason: String?
}

/// `doubloon accounts update`: changes parts of an account.
struct AccountsUpdateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Change an account's name, address, number or claims; what is not given stays.",
    discussion: """
      An empty text takes a name, an address or a number away. Claims are a JSON object, which every token of the player \
      bears from its next refresh on; {} takes them away. Another address ends the player's sessions.

      Examples:
        doubloon accounts update alice@acme.test --name "Alice A." --verified
        doubloon accounts update 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh --claims '{"guild":"pirates"}' --reason "won the cup"
      """)

  @OptionGroup
  var choice: AccountArgument

  @Option(help: ArgumentHelp("The name to show.", valueName: "text"))
  var name: String?

  @Option(help: ArgumentHelp("The mail address.", valueName: "address"))
  var email: String?

  @Option(help: ArgumentHelp("The telephone number, with its plus.", valueName: "number"))
  var phone: String?

  @Option(help: ArgumentHelp("The claims: a JSON object.", valueName: "json"))
  var claims: String?

  @Flag(name: .long, help: "The address is the player's.")
  var verified = false

  @Flag(name: .long, help: "The address may be somebody else's.")
  var unverified = false

  @OptionGroup
  var why: ReasonOption

  mutating func validate() throws {
    guard !verified || !unverified else { throw ValidationError("Say --verified or --unverified, not both.") }
    guard [name, email, phone, claims].contains(where: { $0 != nil }) || verified || unverified else {
      throw ValidationError("Say what to change: --name, --email, --phone, --claims, --verified or --unverified.")
    }
  }

  func run() async throws {
    let draft = AdminAccounts.Draft(
      email: email, emailVerified: verified ? true : unverified ? false : nil, displayName: name, phoneNumber: phone,
      claims: try claims.map(JSONInput.value), reason: why.reason)
    try await choice.perform(saying: { "\($0) is changed." }) { client, uid in
      try await client.call(
        AdminAccounts.update, at: [uid], query: NoQuery(), body: draft, namespace: choice.server.namespace)
    }
  }
}

/// `doubloon accounts sessions`: where a player is signed in, and the end of that.
struct AccountsSessionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions",
    abstract: "List where a player is signed in; with --end, sign the player out everywhere.",
    discussion: """
      Examples:
        doubloon accounts sessions alice@acme.test
        doubloon accounts sessions --end alice@acme.test --reason "lost the telephone"
      """)

  @OptionGroup
  var choice: AccountArgument

  @Flag(help: "End all of them; the player's tokens are void at once.")
  var end = false

  @OptionGroup
  var why: ReasonOption

  func run() async throws {
    guard !end else {
      return try await choice.perform(saying: { "\($0) is signed out everywhere." }) { client, uid in
        try await client.call(
          AdminAccounts.endSessions, at: [uid], reason: why.reason, namespace: choice.server.namespace)
      }
    }
    let answer = try await choice.server.withClient { client in
      try await client.call(AdminAccounts.sessions, at: [try await choice.uid(client)], namespace: choice.server.namespace)
    }
    choice.output.print(answer) { list in
      var table = TextTable([.text("SIGNED IN BY"), .text("FACTOR"), .text("SIGNED IN"), .text("LAST USED")])
      for session in list.sessions {
        table.add([
          session.provider.printable, session.secondFactor?.printable ?? "-", session.signedInAt.text, session.usedAt.text,
        ])
      }
      return table.isEmpty ? "The player is signed in nowhere." : table.render()
    }
  }
}

/// `doubloon accounts codes`: what development would have mailed.
struct AccountsCodesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "codes",
    abstract: "List the codes that went to a player's address and number: in development, where nothing is mailed.",
    discussion: """
      Examples:
        doubloon accounts codes alice@acme.test
      """)

  @OptionGroup
  var choice: AccountArgument

  func run() async throws {
    let answer = try await choice.server.withClient { client in
      try await client.call(AdminAccounts.codes, at: [try await choice.uid(client)], namespace: choice.server.namespace)
    }
    choice.output.print(answer) { list in
      var table = TextTable([.text("FOR"), .text("TO"), .text("CODE"), .text("LINK")])
      for code in list.codes { table.add([code.kind, code.to, code.code, code.link ?? ""]) }
      return table.isEmpty ? "No code is on its way." : table.render()
    }
  }
}
