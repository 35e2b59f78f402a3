public import RewardModel

/// What somebody asks to be set aside, until it is released, voided or expires.
public struct HoldOrder: Sendable, Hashable {
  /// Where the coins come from, and go back to: a player for a purchase, an issuance for a reward that must wait.
  public let from: LedgerAccount
  /// In whose name they are held; they wait in `hold:OWNER`.
  public let owner: String
  /// Above zero, in minor units.
  public let amount: Int64
  /// The currency.
  public let unit: String
  /// Unique in the namespace, for ever.
  public let key: BusinessKey
  /// When the hold lapses, in milliseconds since 1970; nil if it never does. Part of what a repetition must repeat.
  public let expiresAt: Int64?
  /// Whom it is about, where that is not the owner.
  public let subject: String?
  /// A person's words.
  public let reason: String?

  /// An order.
  public init(
    from: LedgerAccount, owner: String, amount: Int64, unit: String, key: BusinessKey, expiresAt: Int64? = nil,
    subject: String? = nil, reason: String? = nil
  ) {
    self.from = from
    self.owner = owner
    self.amount = amount
    self.unit = unit
    self.key = key
    self.expiresAt = expiresAt
    self.subject = subject
    self.reason = reason
  }

  /// The transfer that makes the hold.
  var transfer: LedgerTransfer {
    LedgerTransfer(
      debit: from, credit: .hold(owner), amount: amount, unit: unit, code: LedgerAccount.holdKind, key: key, subject: subject,
      reason: reason, expiresAt: expiresAt)
  }
}
