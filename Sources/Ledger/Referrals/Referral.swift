/// A player whom somebody brought, and what that earned.
public struct Referral: Sendable, Hashable {
  /// How far it came.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The player is there; nothing was earned yet.
    case joined
    /// Coins wait for a confirmation or a review.
    case held
    /// Coins were paid.
    case paid
  }

  /// The player who was brought.
  public let player: String
  /// When the referrer was entered, in milliseconds since 1970; nil if the log no longer tells.
  public let since: Int64?
  /// What the referrer got for it, by unit.
  public let coins: [String: Int64]
  /// What waits for the referrer, by unit.
  public let held: [String: Int64]

  /// How far it came.
  public var state: State {
    if coins.values.contains(where: { $0 > 0 }) { return .paid }
    return held.isEmpty ? .joined : .held
  }
}
