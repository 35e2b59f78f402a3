import FunctionsKit

/// Rewards for referrers who have no record yet: they wait below `/held_referrals/{referrer}`, and are paid when the record
/// appears (`requireReferrer: hold`).
enum HeldReferrals {
  /// Coins that wait until the referrer has a record.
  private static let held = TreePath<Int64, UserID, UserID>("/held_referrals/{referrer}/{player}")
  /// Declared by the function that writes there, so that a merge of two accounts takes along what waits.
  static let declared = HeldRewardPath(held)
  private static let heldBelow: PathPattern = "/held_referrals/{referrer}"

  /// A player's record, whatever it holds.
  private struct Record: Codable, Sendable {}

  /// Keeps a reward back: one for each player, or one for each time.
  static func hold(
    _ coins: Int64, for referrer: UserID, player: UserID, repeats: Repeats, context: FunctionContext
  ) async throws {
    switch repeats {
    case .once: try await context.set(held, referrer, player, to: coins)
    case .everyTime: try await context.increment(held, referrer, player, by: coins)
    }
  }

  /// Whatever comes second, the record or the reward, pays: each sees the other as of its own commit.
  static func payLater(_ functions: Functions, repeats: Repeats) {
    functions.onCreate(TreePath<Record, UserID>("/users/{uid}"), name: "payHeldReferrals") { event, context in
      let waiting = try await context.node(at: heldBelow.path(filling: [event.params.text])).children
      if waiting.isEmpty { return .skipped("nothing_held") }
      for entry in waiting {
        guard let player = UserID(entry.key.text), entry.node.scalar?.intValue != nil else { continue }
        try await pay(event.params, for: player, repeats: repeats, context: context)
      }
      return .done
    }
    functions.onCreate(held, name: "payHeldReferral") { event, context in
      let (referrer, player) = event.params
      guard try await context.exists(at: Users.record.path(filling: [referrer.text])) else {
        return .skipped("unknown_referrer")
      }
      try await pay(referrer, for: player, repeats: repeats, context: context)
      return .done
    }
  }

  /// Pays what is there by now: more may have come since the event. A reward that was paid before is left out, and keeps
  /// back no other.
  private static func pay(_ referrer: UserID, for player: UserID, repeats: Repeats, context: FunctionContext) async throws {
    var coins: Int64 = 0
    try await context.transaction(held, referrer, player) { latest in
      coins = latest ?? 0
      return nil
    }
    guard coins > 0 else { return }
    let key = repeats == .once ? "level5/\(player)" : "level5/\(player)/\(context.event.id)"
    try await context.credit(
      Users.gold, referrer, amount: coins, code: "level5", once: key, ifPaid: .leaveOut, subject: "\(player)")
  }
}
