/// Whom a payment is about, and under which terms it is made at once. Where they are not met the coins wait in a hold; nothing
/// is refused.
///
/// ```swift
/// try await context.credit(
///   Users.gold, referrer, amount: 50, code: "level5", once: "level5/\(player)",
///   terms: RewardTerms(about: player, referrer: referrer))
/// ```
/// The limits are those that the function declares (``FunctionOptions/limits``); a limit that is set here stands in the place of
/// the declared one, for this payment. A day begins at midnight UTC, and payments of one code are counted together. What is beyond a limit waits for a person:
/// `doubloon ledger holds list|release|void`.
public struct RewardTerms: Sendable {
  /// The player whom the reward is about: whose network, address and identity count.
  public var player: UserID
  /// Who brought the player; ``perReferrer`` counts for this one.
  public var referrer: UserID?
  /// Payments for one referrer in a day; those beyond wait for a review. Nil: as the function declares.
  public var perReferrer: Int64?
  /// Payments in a day for players who signed up from one client network; those beyond wait for a review. Nil: as the function
  /// declares.
  public var perNetwork: Int64?
  /// Payments in a day in all; those beyond wait for a review. Nil: as the function declares.
  public var perDay: Int64?
  /// Holds the payment until the player's address is confirmed; nil: as the function declares. See
  /// ``Functions/confirmation()``.
  public var confirmation: Confirmation?
  /// Whether a person who was paid and comes back under the same address or identity is paid again: after leaving, or after
  /// giving it up.
  public var paysReturning: Bool

  /// The function's own terms; a person who was paid before and left is not paid again.
  ///
  /// - Parameter referrer: who brought the player, for ``perReferrer``.
  public init(about player: UserID, referrer: UserID? = nil) {
    self.player = player
    self.referrer = referrer
    paysReturning = false
  }
}
