import RewardModel

/// One account's coins of one unit: what has a balance.
struct Purse: Hashable {
  let account: LedgerAccount
  let unit: String
}
