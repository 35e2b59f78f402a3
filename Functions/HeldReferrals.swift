import FunctionsKit

/// Rewards for referrers who have no record yet: they wait below `/held_referrals/{referrer}`, and are paid when the record
/// appears (`requireReferrer: hold`).
enum HeldReferrals {
  /// Coins that a referrer gets for a player.
  static let amount = TreePath<Int64, UserID, UserID>("/held_referrals/{referrer}/{player}")

  /// A player's record, whatever it holds.
  private struct Record: Codable, Sendable {}

  private static let heldBelow: PathPattern = "/held_referrals/{referrer}"

  /// Whatever comes second, the record or the reward, pays: each sees the other as of its own commit. The business key of the
  /// reward lets one of them.
  static func payLater(_ functions: Functions) {
    functions.onCreate(TreePath<Record, UserID>("/users/{uid}"), name: "payHeldReferrals") { event, context in
      let referrer = event.params
      let held = try await context.node(at: heldBelow.path(filling: [referrer.text])).children
      if held.isEmpty { return .skipped("nothing_held") }
      for entry in held {
        guard let player = UserID(entry.key.text), let coins = entry.node.scalar?.intValue, coins > 0 else { continue }
        try await pay(coins, to: referrer, for: player, context)
      }
      return .done
    }
    functions.onCreate(amount, name: "payHeldReferral") { event, context in
      let (referrer, player) = event.params
      guard try await context.exists(at: Users.record.path(filling: [referrer.text])) else {
        return .skipped("unknown_referrer")
      }
      try await pay(event.value, to: referrer, for: player, context)
      return .done
    }
  }

  private static func pay(_ coins: Int64, to referrer: UserID, for player: UserID, _ context: FunctionContext) async throws {
    try await context.credit(
      Users.gold, referrer, amount: coins, code: "level5", once: "level5/\(player)", subject: "\(player)")
    try await context.remove(amount, referrer, player)
  }
}
