import FunctionsKit

/// Rewards for referrers who have no record yet: they wait below `/held_referrals/{referrer}`, and are paid when the record
/// appears (`requireReferrer: hold`).
enum HeldReferrals {
  /// Coins that wait until the referrer has a record.
  private static let held = TreePath<Int64, UserID, UserID>("/held_referrals/{referrer}/{player}")
  /// Coins that are due: each is paid by a run of its own, so that one that was paid before keeps back no other. That one stays
  /// here, with a run that says so.
  private static let due = TreePath<Int64, UserID, UserID>("/due_referrals/{referrer}/{player}")
  private static let heldBelow: PathPattern = "/held_referrals/{referrer}"

  /// A player's record, whatever it holds.
  private struct Record: Codable, Sendable {}

  /// Keeps a reward back: one for each player, or one for each time.
  static func hold(
    _ coins: Int64, for referrer: UserID, _ player: UserID, _ repeats: Repeats, _ context: FunctionContext
  ) async throws {
    switch repeats {
    case .once: try await context.set(held, referrer, player, to: coins)
    case .everyTime: try await context.increment(held, referrer, player, by: coins)
    }
  }

  /// Whatever comes second, the record or the reward, makes it due: each sees the other as of its own commit.
  static func payLater(_ functions: Functions, _ repeats: Repeats) {
    functions.onCreate(TreePath<Record, UserID>("/users/{uid}"), name: "payHeldReferrals") { event, context in
      let waiting = try await context.node(at: heldBelow.path(filling: [event.params.text])).children
      if waiting.isEmpty { return .skipped("nothing_held") }
      for entry in waiting {
        guard let player = UserID(entry.key.text), entry.node.scalar?.intValue != nil else { continue }
        try await release(event.params, player, context)
      }
      return .done
    }
    functions.onCreate(held, name: "payHeldReferral") { event, context in
      let (referrer, player) = event.params
      guard try await context.exists(at: Users.record.path(filling: [referrer.text])) else {
        return .skipped("unknown_referrer")
      }
      try await release(referrer, player, context)
      return .done
    }
    functions.onCreate(due, name: "payDueReferral") { event, context in
      let (referrer, player) = event.params
      let coins = try await take(due, referrer, player, context)
      guard coins > 0 else { return .skipped("nothing_due") }
      try await context.credit(
        Users.gold, referrer, amount: coins, code: "level5", once: repeats == .once ? "level5/\(player)" : nil,
        subject: "\(player)")
      return .done
    }
  }

  private static func release(_ referrer: UserID, _ player: UserID, _ context: FunctionContext) async throws {
    let coins = try await take(held, referrer, player, context)
    if coins > 0 { try await context.increment(due, referrer, player, by: coins) }
  }

  /// Takes the coins away that stand at a place by now: more may have come since the event.
  private static func take(
    _ place: TreePath<Int64, UserID, UserID>, _ referrer: UserID, _ player: UserID, _ context: FunctionContext
  ) async throws -> Int64 {
    var coins: Int64 = 0
    try await context.transaction(place, referrer, player) { latest in
      coins = latest ?? 0
      return nil
    }
    return coins
  }
}
