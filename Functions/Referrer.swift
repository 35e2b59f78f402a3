import FunctionsKit

/// Who referred a player, as the record says it.
enum Referrer {
  /// No `referred_by`, or one that JavaScript takes for false, as functions in JavaScript ask.
  case nobody
  /// Something that is no player's id: an object, a number, a text that is no key. It never becomes a path.
  case invalid
  case player(UserID)

  /// Reads a player's referrer as of the event.
  static func of(_ player: UserID, context: FunctionContext) async throws -> Referrer {
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
  static func leadsBack(to player: UserID, from start: UserID, context: FunctionContext) async throws -> Bool {
    var seen: Set<UserID> = []
    var current = start
    while seen.insert(current).inserted {
      guard case .player(let next) = try await Referrer.of(current, context: context) else { return false }
      if next == player { return true }
      current = next
    }
    // A circle further up, which the player is no part of.
    return false
  }
}

/// The paths of the game's tree that the functions know.
enum Users {
  static let signIn = TreePath<Int64, UserID>("/users/{uid}/last_signin_at")
  static let level = TreePath<Int64, UserID>("/users/{uid}/level")
  static let referredBy = TreePath<String, UserID>("/users/{uid}/referred_by")
  static let gold = TreePath<Int64, UserID>("/users/{uid}/inventory/pieces_of_eight")
  static let record: PathPattern = "/users/{uid}"
}

/// What to do with a referral that looks wrong.
enum Policy: String, Codable, Sendable {
  case skip
  case allow
}

/// How often one player's milestone pays.
enum Repeats: String, Codable, Sendable {
  case once
  case everyTime
}

/// What a referrer must have to be paid.
enum ReferrerRequirement: String, Codable, Sendable {
  /// Nothing: coins for a referrer without a record wait in its inventory.
  case nothing
  /// A record in the tree.
  case record
  /// An account of this server.
  case account
  /// A record in the tree; until it appears, the coins wait.
  case hold
}
