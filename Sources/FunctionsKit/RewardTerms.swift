/// Under which terms a payment is made at once. Where they are not met the coins wait in a hold; nothing is refused.
///
/// ```swift
/// var terms = RewardTerms(about: player)
/// terms.referrer = referrer
/// terms.perReferrer = settings.perReferrer
/// terms.confirmation = confirmation
/// try await context.credit(Users.gold, referrer, amount: 50, code: "level5", once: "level5/\(player)", terms: terms)
/// ```
/// A day begins at midnight UTC, and payments of one code are counted together. What is beyond a limit waits for a person:
/// `doubloon ledger holds list|release|void`.
public struct RewardTerms: Sendable {
  /// The player whom the reward is about: whose network, address and identity count.
  public var player: UserID
  /// Who brought the player; ``perReferrer`` counts for this one.
  public var referrer: UserID?
  /// Payments for one referrer in a day; those beyond wait for a review. Nil: any number.
  public var perReferrer: Int64?
  /// Payments in a day for players who signed up from one client network; those beyond wait for a review. Nil: any number.
  /// A player whose network is not known (an account of an administrator's or of an import) is not counted.
  public var perNetwork: Int64?
  /// Payments in a day in all; those beyond wait for a review. Nil: any number.
  public var perDay: Int64?
  /// Holds the payment until the player's address is confirmed; nil: no address is asked for. See
  /// ``Functions/confirmation()``.
  public var confirmation: Confirmation?
  /// Whether a person who was paid and comes back under the same address or identity is paid again: after leaving, or after
  /// giving it up.
  public var paysReturning: Bool

  /// Terms that every payment meets, but for a person who was paid before and left.
  public init(about player: UserID) {
    self.player = player
    paysReturning = false
  }
}
