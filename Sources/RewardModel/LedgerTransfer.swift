/// What somebody asks of the ledger: move an amount of one unit from one account to another, once.
public struct LedgerTransfer: Sendable, Hashable {
  /// The account that gives.
  public let debit: LedgerAccount
  /// The account that gets.
  public let credit: LedgerAccount
  /// Always above zero, in minor units.
  public let amount: Int64
  /// The currency, such as `pieces_of_eight`.
  public let unit: String
  /// Why, in one word of the program: `signup`, `level5`, `adjustment`, `reversal`.
  public let code: String
  /// Unique in the namespace for ever: a second transfer under the same key is not made.
  public let key: BusinessKey
  /// The event that caused it, as text; nil for a person's or a game server's transfer.
  public let event: String?
  /// The function that caused it.
  public let function: String?
  /// Whom it is about, where that is not one of the two accounts: the referred player of a referrer's reward.
  public let subject: String?
  /// The sequence of the entry that this one takes back.
  public let reverses: Int64?
  /// A person's words.
  public let reason: String?
  /// Whether the giving account may go below zero although it is a player's.
  public let allowsNegative: Bool
  /// When a hold that this transfer makes lapses, in milliseconds since 1970; nil for everything else.
  public let expiresAt: Int64?

  /// A transfer. It is judged when it is committed.
  public init(
    debit: LedgerAccount, credit: LedgerAccount, amount: Int64, unit: String, code: String, key: BusinessKey,
    event: String? = nil, function: String? = nil, subject: String? = nil, reverses: Int64? = nil, reason: String? = nil,
    allowsNegative: Bool = false, expiresAt: Int64? = nil
  ) {
    self.debit = debit
    self.credit = credit
    self.amount = amount
    self.unit = unit
    self.code = code
    self.key = key
    self.event = event
    self.function = function
    self.subject = subject
    self.reverses = reverses
    self.reason = reason
    self.allowsNegative = allowsNegative
    self.expiresAt = expiresAt
  }
}
