import FunctionsKit

/// Who referred a player, as the record says it.
enum Referrer {
  /// No `referred_by`, or one that JavaScript takes for false: the seed's own rule.
  case nobody
  /// Something that is no player's id: an object, a number, a text that is no key. It never becomes a path.
  case invalid
  case player(UserID)

  /// Reads a player's referrer as of the event.
  static func of(_ player: UserID, _ context: FunctionContext) async throws -> Referrer {
    let node = try await context.node(at: Users.referredBy.path(player))
    guard node.exists else { return .nobody }
    guard let scalar = node.scalar else { return .invalid }
    if scalar.isFalsy { return .nobody }
    guard let id = scalar.stringValue.flatMap({ UserID($0) }) else { return .invalid }
    return .player(id)
  }

  /// Whether following referrers upwards from `start` leads back to `player`, however long the way is.
  ///
  /// Looks at nobody twice. What bounds a very long chain is the function's deadline: then the run fails visibly, and pays
  /// nothing.
  static func leadsBack(to player: UserID, from start: UserID, _ context: FunctionContext) async throws -> Bool {
    var seen: Set<UserID> = []
    var current = start
    while seen.insert(current).inserted {
      guard case .player(let next) = try await Referrer.of(current, context) else { return false }
      if next == player { return true }
      current = next
    }
    // A circle further up, which the player is no part of.
    return false
  }
}
