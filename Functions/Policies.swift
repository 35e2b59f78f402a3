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
  /// Nothing: coins for a referrer without a record wait in its inventory, as in the seed.
  case nothing
  /// A record in the tree.
  case record
  /// An account of this server.
  case account
  /// A record in the tree; until it appears, the coins wait.
  case hold
}
