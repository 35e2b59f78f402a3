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
      """)

  @Argument(help: "The player.")
  var player: String

  @Option(help: ArgumentHelp("Only players behind this one.", valueName: "player"))
  var after: String?

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let query = AdminInvitations.ReferralQuery(uid: player, limit: listing.count, cursor: after)
    listing.output.print(try await listing.page(of: AdminInvitations.referrals, query: query), Self.text)
  }

  static func text(_ list: AdminInvitations.ReferralList) -> String {
    let player = list.player
    let referrer = list.referredBy.map { "\(player) was referred by \($0)." } ?? "\(player) was referred by nobody."
    guard !list.referrals.isEmpty else { return "\(referrer) \(player) brought nobody.".printable }
    var table = TextTable([.text("PLAYER"), .text("SINCE"), .text("STATE"), .text("COINS"), .text("HELD")])
    for referral in list.referrals {
      table.add([referral.player, referral.since.text, referral.state, coins(referral.coins), coins(referral.held)])
    }
    return "\(referrer.printable)\n\n\(table.render())" + TextTable.nextPageText(list.next, by: "--after")
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
    abstract: "List the players who brought most others.",
    discussion: """
      Examples:
        doubloon referrals top
        doubloon referrals top --limit 100 --json
      """)

  @OptionGroup
  var listing: ListingOptions

  func run() async throws {
    let query = AdminInvitations.TopQuery(limit: listing.count)
    listing.output.print(try await listing.page(of: AdminInvitations.top, query: query), Self.text)
  }

  static func text(_ answer: AdminInvitations.Top) -> String {
    guard !answer.top.isEmpty else { return "Nobody brought anybody yet." }
    var table = TextTable([.text("PLAYER"), .number("BROUGHT"), .text("COINS")])
    for row in answer.top { table.add([row.player, row.count.grouped, ReferralsShowCommand.coins(row.coins)]) }
    return table.render()
  }
}
