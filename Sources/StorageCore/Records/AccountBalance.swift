public import RewardModel

/// The balance of a ledger account in one unit.
public struct AccountBalance: Sendable, Hashable {
  public let account: LedgerAccount
  public let unit: String
  public let balance: Int64

  public init(account: LedgerAccount, unit: String, balance: Int64) {
    self.account = account
    self.unit = unit
    self.balance = balance
  }
}
