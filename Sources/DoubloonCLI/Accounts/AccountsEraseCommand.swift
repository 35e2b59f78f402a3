import AdminClient
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
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard reason?.isEmpty == false || dryRun else { throw ValidationError("--reason must say why, for the record.") }
  }

  func run() async throws {
    var body: [JSON.Member] = path.isEmpty ? [] : [.init(key: "paths", value: .array(path.map(JSON.string)))]
    let preview = try await post("\(AdminPath.account(player))/erase/preview", .object(body))
    if dryRun { return output.print(preview, Self.planText) }
    if !yes {
      DoubloonCommandLine.output.error(Self.planText(preview))
      guard try DoubloonCommandLine.question.confirm("Erase it? This cannot be taken back.") else { throw ExitCode(1) }
    }
    body.append(.init(key: "reason", value: .string(reason ?? "")))
    if noTriggers { body.append(.init(key: "triggers", value: .bool(false))) }
    // The player that the preview named: the address may be somebody else's by now.
    let uid = preview["uid"]?.string ?? player
    output.print(try await post("\(AdminPath.account(uid))/erase", .object(body)), Self.text)
  }

  private func post(_ path: String, _ body: JSON) async throws -> JSON {
    try await server.withClient { client in
      try await client.post(path, body, query: server.query, timeout: ReplayStartCommand.longTimeout)
    }
  }

  static func planText(_ plan: JSON) -> String {
    let uid = plan["uid"]?.string ?? "?"
    var lines = plan.listed("places").map { place in
      "\(place["path"]?.string ?? "?"): \((place["leaves"]?.int ?? 0).counted("value", "values"))"
    }
    lines.insert(plan["account"]?.bool == true ? "The account \(uid) goes." : "There is no account \(uid).", at: 0)
    lines.append("In the past, the changes of \((plan["commits"]?.int ?? 0).counted("commit", "commits")).")
    let rows = plan["rows"]?.int ?? 0
    if rows > 0 { lines.append("Of links and invitations, \(rows.counted("record", "records")).") }
    for balance in plan.listed("balances") {
      lines.append("The ledger takes back \(balance["balance"]?.int ?? 0) \(balance["unit"]?.string ?? "?").")
    }
    for hold in plan.listed("holds") {
      lines.append(
        "Hold \(LedgerText.sequence(hold)) is given back: \(hold["amount"]?.int ?? 0) \(hold["unit"]?.string ?? "?") of "
          + "\(hold["credit"]?.string ?? "?") to \(hold["debit"]?.string ?? "?")"
          + (hold["reason"]?.string.map { " (\($0))." } ?? "."))
    }
    let waiting = plan.listed("waiting")
    if !waiting.isEmpty {
      lines += ["This has to be done before:"] + waiting.map { "  \($0.string ?? "?")" }
    }
    if let erasure = plan["erasure"], !erasure.isNull { lines.append(text(erasure)) }
    return lines.joined(separator: "\n").printable
  }

  static func text(_ erasure: JSON) -> String {
    let uid = erasure["uid"]?.string ?? "?"
    guard erasure["state"]?.string == "done" else {
      return "The erasure of \(uid) has begun and is not done; order it again, and it goes on.".printable
    }
    let commits = (erasure["commits"]?.int ?? 0).counted("commit", "commits")
    return
      "\(uid) is erased: \(erasure.listed("places").compactMap(\.string).joined(separator: ", ")), and what \(commits) had of it."
      .printable
  }
}

/// `doubloon accounts erasures`: who was erased.
struct AccountsErasuresCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erasures",
    abstract: "List the players who were erased, and erasures that are not done.",
    discussion: """
      Look here after you have restored a backup: whoever was erased since it was made has to be erased again.

      Examples:
        doubloon accounts erasures
        doubloon accounts erasures --json
      """)

  @Option(help: ArgumentHelp("Go on where an earlier list ended.", valueName: "cursor"))
  var cursor: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let answer = try await listing.page(of: AdminPath.erasures, [QueryItem("cursor", cursor)])
    listing.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([.text("UID"), .text("STATE"), .text("ORDERED"), .text("BY"), .text("REASON")])
    for erasure in answer.listed("erasures") {
      table.add([
        erasure["uid"]?.string ?? "?", erasure["state"]?.string ?? "?", erasure["orderedAt"]?.timeText ?? "-",
        erasure["by"]?.string ?? "-", erasure["reason"]?.string ?? "",
      ])
    }
    return table.page(of: answer, empty: "Nobody was erased.", next: "--cursor")
  }
}
