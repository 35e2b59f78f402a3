import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon accounts erase`: a player leaves.
struct AccountsEraseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Erase a player who leaves: record, account, and their past.",
    discussion: """
      The player's record in the tree, the account with its password and sessions, links, invitations and mails go, and so \
      does all that the log and the history remember of them: nobody can read it back at an earlier time. What stays is the \
      ledger, in which the uid stands for nobody any more, and the proofs: "ledger verify", "log verify" and "replay \
      --rebuild" say what they said before. The balance is taken back by an entry.

      The record is what the balance is part of (/users/UID); name other places of the player's with --path, or once for \
      all in the configuration ("accounts.personalPlaces"). Something that still waits for the player, a retry or a mail, has \
      to be done before; the command says what it is. Coins that are held for the player go back to where they came from, and \
      so do rewards of others that wait until the player's address is confirmed. If it is cut off, give it again.

      A backup that was made before still holds the player. Erase again after you have restored one.

      Examples:
        doubloon accounts erase 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh --dry-run
        doubloon accounts erase 7fKq2vYw8ZbT0mXe4sRu1pLd9cGh --reason "asked for by mail, ticket 4711"
        doubloon accounts erase robert@acme.test --reason "ticket 4711"
        doubloon accounts erase bob --path '/leaderboard/{uid}' --reason "ticket 4712" --yes
      """)

  @Argument(help: ArgumentHelp("The player: the uid, or the account's e-mail address.", valueName: "uid"))
  var player: String

  @Option(help: ArgumentHelp("Why; kept with the erasure and in the audit log.", valueName: "text"))
  var reason: String?

  @Option(
    help: ArgumentHelp("Another place of the player's, with one capture: /leaderboard/{uid}. Repeatable.", valueName: "pattern")
  )
  var path: [String] = []

  @Flag(help: "Do not let functions hear of the removal.")
  var noTriggers = false

  @Flag(help: "Say what would go, and change nothing.")
  var dryRun = false

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup
  var among: TenantOption

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard reason?.isEmpty == false || dryRun else { throw ValidationError("--reason must say why, for the record.") }
  }

  func run() async throws {
    let paths = path.isEmpty ? nil : path
    let preview = try await server.withClient { client in
      try await client.call(
        AdminAccounts.previewErasure, at: [try await among.uid(of: player, client: client, namespace: server.namespace)],
        body: AdminAccounts.ErasurePreviewOrder(paths: paths),
        namespace: server.namespace, timeout: ReplayStartCommand.longTimeout)
    }
    if dryRun { return output.print(preview, Self.planText) }
    if !yes {
      DoubloonCommandLine.output.error(Self.planText(preview.value))
      guard try DoubloonCommandLine.question.confirm("Erase it? This cannot be taken back.") else { throw ExitCode(1) }
    }
    let order = AdminAccounts.ErasureOrder(reason: reason ?? "", paths: paths, triggers: noTriggers ? false : nil)
    let erasure = try await server.withClient { client in
      // The player that the preview named: the address may be somebody else's by now.
      try await client.call(
        AdminAccounts.erase, at: [preview.value.uid], body: order, namespace: server.namespace,
        timeout: ReplayStartCommand.longTimeout)
    }
    output.print(erasure, Self.text)
  }

  static func planText(_ plan: AdminAccounts.ErasurePlan) -> String {
    var lines = [plan.account ? "The account \(plan.uid) goes." : "There is no account \(plan.uid)."]
    lines += plan.paths.map { "\($0.path): \($0.leaves.counted("value", many: "values"))" }
    lines.append("In the past, the changes of \(plan.commits.counted("commit", many: "commits")).")
    if plan.rows > 0 { lines.append("Of links and invitations, \(plan.rows.counted("record", many: "records")).") }
    lines += plan.balances.map { "The ledger takes back \($0.balance) \($0.unit)." }
    lines += plan.holds.map { hold in
      "Hold \(hold.sequence) is given back: \(hold.amount) \(hold.unit) of \(hold.credit) to \(hold.debit)"
        + (hold.reason.map { " (\($0))." } ?? ".")
    }
    if !plan.waiting.isEmpty { lines += ["This has to be done before:"] + plan.waiting.map { "  \($0)" } }
    if let erasure = plan.erasure { lines.append(text(erasure)) }
    return lines.joined(separator: "\n").printable
  }

  static func text(_ erasure: AdminAccounts.Erasure) -> String {
    guard erasure.state == .done else {
      return "The erasure of \(erasure.uid) has begun and is not done; order it again, and it goes on.".printable
    }
    let commits = erasure.commits.counted("commit", many: "commits")
    return "\(erasure.uid) is erased: \(erasure.paths.joined(separator: ", ")), and what \(commits) had of it.".printable
  }
}

/// `doubloon accounts erasures`: who was erased.
struct AccountsErasuresCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erasures",
    abstract: "List the players who were erased, and erasures that are not done.",
    discussion: """
      Look here after you have restored a backup: players erased since it was made must be erased again.

      Examples:
        doubloon accounts erasures
        doubloon accounts erasures --json
      """)

  @Option(help: ArgumentHelp("Go on where an earlier list ended.", valueName: "cursor"))
  var cursor: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let query = AdminAccounts.ErasureQuery(limit: listing.count, cursor: cursor)
    listing.output.print(try await listing.page(of: AdminAccounts.erasures, query: query), Self.text)
  }

  static func text(_ list: AdminAccounts.ErasureList) -> String {
    var table = TextTable([.text("UID"), .text("STATE"), .text("ORDERED"), .text("BY"), .text("REASON")])
    for erasure in list.erasures {
      table.add([erasure.uid, erasure.state.rawValue, erasure.orderedAt.text, erasure.by, erasure.reason])
    }
    return table.page(empty: "Nobody was erased.", next: list.next, by: "--cursor")
  }
}
