/// A player by how many others the player brought.
public struct ReferralRank: Sendable, Hashable {
  /// Who brought them.
  public let referrer: String
  /// How many.
  public let count: Int64
  /// What the referrer got for all of them, by unit.
  public let coins: [String: Int64]
}
