import AdminClient
import AdminModel
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

      Both are players of one tenant, or of none: players of two brands are two.

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
  var among: TenantOption

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard reason?.isEmpty == false || dryRun else { throw ValidationError("--reason must say why, for the record.") }
    guard from != into else { throw ValidationError("The two accounts must not be the same.") }
  }

  func run() async throws {
    let merge = try await server.withClient { client in
      let from = try await among.uid(of: from, client: client, namespace: server.namespace)
      let into = try await among.uid(of: into, client: client, namespace: server.namespace)
      guard dryRun else {
        return try await client.call(
          AdminAccounts.merge, at: [from],
          body: AdminAccounts.MergeOrder(into: into, balances: balances, record: record, reason: reason ?? ""),
          namespace: server.namespace, timeout: ReplayStartCommand.longTimeout)
      }
      return try await client.call(
        AdminAccounts.previewMerge, at: [from],
        body: AdminAccounts.MergePreviewOrder(into: into, balances: balances, record: record), namespace: server.namespace,
        timeout: ReplayStartCommand.longTimeout)
    }
    output.print(merge, Self.text)
  }

  /// What was moved; what would be, if it has no time.
  static func text(_ merge: AdminAccounts.Merge) -> String {
    let (from, into) = (merge.from, merge.into)
    var lines = [
      merge.at.map { "\(from) was merged into \(into) at \($0.text)." } ?? "\(from) would be merged into \(into):"
    ]
    lines.append(merge.referrer.map { "Referred by \($0): moved." } ?? "No referral to move.")
    lines += merge.balances.map { "\($0.amount) \($0.unit): moved." }
    if !merge.copied.isEmpty { lines.append("Copied: \(merge.copied.joined(separator: ", ")).") }
    if let held = merge.held { lines.append("The reward that waits for the referrer: moved to \(held).") }
    if !merge.spent.isEmpty { lines.append("Paid before, and not again: \(merge.spent.joined(separator: ", ")).") }
    let waiting = merge.waiting ?? []
    if !waiting.isEmpty { lines += ["This has to be done before:"] + waiting.map { "  \($0)" } }
    if merge.at != nil { lines.append("Nobody can sign in to \(from) any more.") }
    return lines.joined(separator: "\n").printable
  }
}
