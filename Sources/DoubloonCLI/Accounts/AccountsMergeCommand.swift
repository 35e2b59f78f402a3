import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon accounts merge`: two accounts of one player become one.
struct AccountsMergeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Move a player's referral, and if wanted coins and record, to another account of the same player.",
    discussion: """
      For a player who began anonymous, was referred, and then signed in with a credential of another account instead of \
      linking it. Who referred FROM has referred INTO from now on. A reward that was paid for FROM is not paid again for \
      INTO. Nobody can sign in to FROM any more ("accounts enable" allows it again). All of it is one commit, once: the same \
      command again answers with what was done. Functions do not run for it.

      INTO keeps what it has: its own referrer, and its own values. Whom FROM has invited keep FROM as their referrer.

      Examples:
        doubloon accounts merge 7fKq2vYw 9pLd1cGh --reason "ticket 118" --dry-run
        doubloon accounts merge 7fKq2vYw 9pLd1cGh --balances --record --reason "ticket 118"
        doubloon accounts merge 7fKq2vYw carol@acme.test --balances --reason "ticket 119"
      """)

  @Argument(help: "The account that the player leaves: its uid, or its e-mail address.")
  var from: String

  @Argument(help: "The account that the player goes on with: its uid, or its e-mail address.")
  var into: String

  @Option(help: ArgumentHelp("Why; kept with the merge and in the audit log.", valueName: "text"))
  var reason: String?

  @Flag(help: "Move the coins, too.")
  var balances = false

  @Flag(help: "Copy what INTO's record does not have.")
  var record = false

  @Flag(help: "Say what would move, and change nothing.")
  var dryRun = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard reason?.isEmpty == false || dryRun else { throw ValidationError("--reason must say why, for the record.") }
    guard from != into else { throw ValidationError("The two accounts must not be the same.") }
  }

  func run() async throws {
    var body: [JSON.Member] = [
      .init(key: "into", value: .string(into)), .init(key: "balances", value: .bool(balances)),
      .init(key: "record", value: .bool(record)),
    ]
    if !dryRun { body.append(.init(key: "reason", value: .string(reason ?? ""))) }
    let order = JSON.object(body)
    let place = "\(AdminPath.account(from))/merge\(dryRun ? "/preview" : "")"
    let answer = try await server.withClient { client in
      try await client.post(place, order, query: server.query, timeout: ReplayStartCommand.longTimeout)
    }
    output.print(answer, Self.text)
  }

  /// What was moved; what would be, if it has no time.
  static func text(_ merge: JSON) -> String {
    let (from, into) = (merge["from"]?.string ?? "?", merge["into"]?.string ?? "?")
    let isDone = merge["at"] != nil
    var lines = [
      isDone
        ? "\(from) was merged into \(into) at \(merge["at"]?.timeText ?? "?")." : "\(from) would be merged into \(into):"
    ]
    lines.append(merge["referrer"]?.string.map { "Referred by \($0): moved." } ?? "No referral to move.")
    for balance in merge.listed("balances") {
      lines.append("\(balance["amount"]?.int ?? 0) \(balance["unit"]?.string ?? "?"): moved.")
    }
    let copied = merge.listed("copied").compactMap(\.string)
    if !copied.isEmpty { lines.append("Copied: \(copied.joined(separator: ", ")).") }
    if let held = merge["held"]?.string { lines.append("The reward that waits for the referrer: moved to \(held).") }
    let spent = merge.listed("spent").compactMap(\.string)
    if !spent.isEmpty { lines.append("Paid before, and not again: \(spent.joined(separator: ", ")).") }
    let waiting = merge.listed("waiting").compactMap(\.string)
    if !waiting.isEmpty { lines += ["This has to be done before:"] + waiting.map { "  \($0)" } }
    if isDone { lines.append("Nobody can sign in to \(from) any more.") }
    return lines.joined(separator: "\n").printable
  }
}
