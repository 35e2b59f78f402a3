import ArgumentParser
import TreeModel

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

  @Option(help: ArgumentHelp("At most so many.", valueName: "count"))
  var limit = 50

  @Option(help: ArgumentHelp("Only players behind this one.", valueName: "player"))
  var after: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") }
  }

  func run() async throws {
    var query = server.query + [QueryItem("uid", player), QueryItem("limit", String(limit))]
    if let after { query.append(QueryItem("cursor", after)) }
    let parameters = query
    let answer = try await server.withClient { client in try await client.get(AdminPath.referrals, query: parameters) }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    let player = answer["player"]?.string ?? "?"
    let referrer =
      answer["referredBy"]?.string.map { "\(player) was referred by \($0)." } ?? "\(player) was referred by nobody."
    let referrals = answer.listed("referrals")
    guard !referrals.isEmpty else { return "\(referrer) \(player) brought nobody.".printable }
    var table = TextTable([.text("PLAYER"), .text("SINCE"), .text("STATE"), .text("COINS"), .text("HELD")])
    for referral in referrals {
      table.add([
        referral["player"]?.string ?? "?", referral["since"]?.timeText ?? "-", referral["state"]?.string ?? "-",
        coins(referral["coins"]), coins(referral["held"]),
      ])
    }
    let text = "\(referrer.printable)\n\n\(table.render())"
    guard let next = answer["next"]?.string else { return text }
    return text + "\n\nThere may be more: add --after \(next.printable)."
  }

  /// Amounts with their units; a dash for none.
  static func coins(_ amounts: JSON?) -> String {
    let parts = (amounts?.object ?? []).map { "\($0.value.int?.grouped ?? "?") \($0.key)" }
    return parts.isEmpty ? "-" : parts.joined(separator: ", ")
  }
}
