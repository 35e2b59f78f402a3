import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon referrals`: who brought whom.
struct ReferralsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "referrals",
    abstract: "Who brought whom, and what it earned.",
    discussion: """
      The index follows the place that the functions declare: functions.referrer(at: …). A player called "top" is shown by \
      "doubloon referrals show top".

      Examples:
        doubloon referrals alice
        doubloon referrals top --limit 10
      """,
    subcommands: [ReferralsShowCommand.self, ReferralsTopCommand.self], defaultSubcommand: ReferralsShowCommand.self)
}

/// `doubloon referrals PLAYER`: whom a player brought.
struct ReferralsShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "List whom a player brought, with state and coins of each.",
    discussion: """
      A referral is joined, held (coins wait for a confirmation or a review) or paid.

      Examples:
        doubloon referrals alice
        doubloon referrals show alice --limit 200 --after bob
        doubloon referrals alice --depth 3
      """)

  @Argument(help: "The player.")
  var player: String

  @Option(help: ArgumentHelp("So many levels down.", valueName: "count"))
  var depth = 1

  @Option(help: ArgumentHelp("Only players behind this one.", valueName: "player"))
  var after: String?

  @OptionGroup
  var listing: ListingOptions

  mutating func validate() throws {
    guard (1...5).contains(depth) else { throw ValidationError("--depth must be 1 to 5.") }
  }

  func run() async throws {
    let query = AdminReferrals.TreeQuery(depth: Int64(depth), limit: listing.count, cursor: after)
    listing.output.print(
      try await listing.page(of: AdminReferrals.tree, at: [player], query: query), Self.text)
  }

  static func text(_ tree: AdminReferrals.Tree) -> String {
    let player = tree.player
    let referrer = tree.referredBy.map { "\(player) was referred by \($0)." } ?? "\(player) was referred by nobody."
    guard !tree.referrals.isEmpty else { return "\(referrer) \(player) brought nobody.".printable }
    let goal = (tree.goal?.name ?? "goal").uppercased()
    var table = TextTable([
      .text("PLAYER"), .text("BY"), .text("SINCE"), .text("STATE"), .text("SIGNED UP"), .text(goal), .text("COINS"),
      .text("HELD"), .number("BROUGHT"),
    ])
    for referral in tree.referrals {
      table.add([
        referral.player, referral.by, referral.since.text, referral.state, referral.signedUp ? "yes" : "no",
        referral.reached ? "yes" : "no", coins(referral.coins), coins(referral.held), referral.brought.grouped,
      ])
    }
    return "\(referrer.printable)\n\n\(table.render())" + TextTable.nextPageText(tree.next, by: "--after")
  }

  /// Amounts with their units; a dash for none.
  static func coins(_ amounts: NamedValues<Int64>) -> String {
    amounts.isEmpty ? "-" : amounts.members.map { "\($0.value.grouped) \($0.name)" }.joined(separator: ", ")
  }
}

/// `doubloon referrals top`: who brought most.
struct ReferralsTopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "List the players who got most for bringing others, by the ledger.",
    discussion: """
      REFERRED, SIGNED UP and the goal are players; COINS is what the ledger says without what was REVERSED; CLICKS and \
      INSTALLS are of the player's links.

      Examples:
        doubloon referrals top
        doubloon referrals top --unit pieces_of_eight --since 1795392000000
        doubloon referrals top --limit 100 --json
      """)

  @Option(help: ArgumentHelp("Order by coins of this unit.", valueName: "unit"))
  var unit: String?

  @Option(help: ArgumentHelp("Only from this time on, in milliseconds since 1970.", valueName: "time"))
  var since: Int64?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let query = AdminReferrals.LeadersQuery(unit: unit, since: since.map { Timestamp($0) }, limit: listing.count)
    listing.output.print(try await listing.page(of: AdminReferrals.leaders, query: query), Self.text)
  }

  static func text(_ answer: AdminReferrals.Leaders) -> String {
    guard !answer.leaders.isEmpty else { return "Nobody brought anybody yet." }
    let goal = (answer.goal?.name ?? "goal").uppercased()
    var table = TextTable([
      .text("PLAYER"), .number("REFERRED"), .number("SIGNED UP"), .number(goal), .text("COINS"), .text("REVERSED"),
      .number("CLICKS"), .number("INSTALLS"),
    ])
    for row in answer.leaders {
      table.add([
        row.player, row.referred.grouped, row.signedUp.grouped, row.reached.grouped, ReferralsShowCommand.coins(row.coins),
        ReferralsShowCommand.coins(row.reversed), row.clicks.grouped, row.installs.grouped,
      ])
    }
    return table.render() + (answer.complete ? "" : "\n\nThere was too much to look at: older entries are not counted.")
  }
}
