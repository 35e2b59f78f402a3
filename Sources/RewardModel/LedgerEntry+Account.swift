extension LedgerEntry {
  /// What the entry did to an account's balance: below zero for the giving side, 0 for an account that is not in it.
  public func change(of account: LedgerAccount) -> Int64 {
    if transfer.credit == account { return transfer.amount }
    return transfer.debit == account ? -transfer.amount : 0
  }

  /// The account's balance after the entry; nil for an account that is not in it.
  public func balance(of account: LedgerAccount) -> Int64? {
    if transfer.credit == account { return creditAfter }
    return transfer.debit == account ? debitAfter : nil
  }
}
