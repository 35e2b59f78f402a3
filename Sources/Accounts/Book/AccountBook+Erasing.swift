public import StorageCore

/// What the erasure of a player, and the merge of two, need of the accounts.
extension AccountBook {
  /// Lets nobody sign in to an account any more, as a part of a request that does more; without one it does nothing.
  public func disabling(_ uid: String) -> any WriterDecision {
    AccountChange(options, clock: clock) { (bench) throws(AccountError) in
      guard let before = try bench.account(uid), !before.isDisabled else { return }
      var record = before
      record.isDisabled = true
      try bench.save(record, from: before)
    }
  }

  /// Removes an account on the writer, as a part of a request that does more; without one it does nothing.
  public func removal(of uid: String) -> any WriterDecision {
    AccountChange(options, clock: clock) { (bench) throws(AccountError) in
      guard let record = try bench.account(uid) else { return }
      try bench.delete(record)
    }
  }
}

extension AccountRecord {
  /// Every mail address that is known as the player's, once.
  public var addresses: [String] {
    let all = [email, initialEmail].compactMap(\.self) + providers.compactMap(\.email)
    return Set(all).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
