public import RewardModel

/// The balance of a ledger account in one unit.
public struct AccountBalance: Sendable, Hashable {
  /// Whose balance.
  public let account: LedgerAccount
  /// The currency, such as `pieces_of_eight`.
  public let unit: String
  /// In minor units; below zero where coins come from.
  public let balance: Int64

  public init(account: LedgerAccount, unit: String, balance: Int64) {
    self.account = account
    self.unit = unit
    self.balance = balance
  }
}
