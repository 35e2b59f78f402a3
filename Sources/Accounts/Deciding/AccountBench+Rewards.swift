import StorageCore

extension AccountBench {
  /// A new account that a client makes.
  ///
  /// - Parameter address: the client, as limits tell clients apart; only a keyed hash of it is kept.
  func newAccount(_ uid: String, from address: String) -> AccountRecord {
    var record = AccountRecord(uid: uid, createdAt: time)
    record.network = options.identities?.network(address)
    return record
  }

  /// Remembers by their keyed hashes whom an account was that rewards were paid for, and that goes now.
  func rememberPaid(_ record: AccountRecord) throws(AccountError) {
    let stored = try read { () throws(StorageError) in
      try session.record(in: namespace, kind: PaidRewards.playerKind, key: record.uid)
    }
    guard let stored else { return }
    session.put(RoomChange(kind: PaidRewards.playerKind, key: record.uid, value: nil), in: namespace)
    guard let identities = options.identities, let lifetime = options.paidIdentityLifetime else { return }
    let codes = PaidRewards(stored: stored).codes
    for hash in identities.hashes(of: record) {
      let known = try read { () throws(StorageError) in
        try session.record(in: namespace, kind: PaidRewards.identityKind, key: hash)
      }
      let earlier = known.map { PaidRewards(stored: $0).codes } ?? []
      let paid = PaidRewards(codes: codes.union(earlier), until: time + lifetime)
      session.put(RoomChange(kind: PaidRewards.identityKind, key: hash, value: paid.text), in: namespace)
    }
  }
}
