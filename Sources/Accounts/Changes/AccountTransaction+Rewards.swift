import StorageCore

extension AccountTransaction {
  /// A new account that a client makes.
  ///
  /// - `address`: the client, as limits tell clients apart; only a keyed hash of it is kept.
  func newAccount(_ uid: String, from address: String) -> AccountRecord {
    var record = AccountRecord(uid: uid, createdAt: time)
    record.network = options.identities?.network(address)
    return record
  }

  /// Remembers by their keyed hashes whom an account was that goes now: for the rewards that were paid for it, and for those
  /// that are still under way.
  func rememberLeaving(_ record: AccountRecord) throws {
    let paid = try paidRewards(of: record.uid)
    if paid != nil { session.put(KeyedRecordChange(kind: PaidRewards.playerKind, key: record.uid, value: nil), in: namespace) }
    guard let (identities, lifetime) = remembering else { return }
    let hashes = identities.hashes(of: record)
    guard !hashes.isEmpty else { return }
    let former = FormerIdentities(hashes, at: time, lifetime: lifetime)
    session.put(KeyedRecordChange(kind: FormerIdentities.kind, key: record.uid, value: former.text), in: namespace)
    if let paid { try remember(paid.codes, of: hashes, by: identities.player(record.uid), until: time + lifetime) }
  }

  /// Remembers identities that a player who was paid gives up and goes on without: the same person may come with them under
  /// another account. An address that was never confirmed is nobody's: else anybody's could be spoilt.
  func rememberGivenUp(by before: AccountRecord, as after: AccountRecord) throws {
    guard let (identities, lifetime) = remembering, before.identifiers != after.identifiers else { return }
    var (proven, kept) = (before, after)
    // The address that an account began with leads to it no longer once there is another.
    (proven.initialEmail, kept.initialEmail) = (nil, nil)
    if !before.isEmailVerified { proven.email = nil }
    let givenUp = Set(identities.hashes(of: proven)).subtracting(identities.hashes(of: kept))
    guard !givenUp.isEmpty, let paid = try paidRewards(of: before.uid) else { return }
    try remember(paid.codes, of: givenUp.sorted(), by: identities.player(before.uid), until: time + lifetime)
  }

  // MARK: -

  /// How identities are remembered, and for how long; nil where that is off.
  private var remembering: (identities: IdentityHash, lifetime: Int64)? {
    guard let identities = options.identities, let lifetime = options.paidIdentityLifetime else { return nil }
    return (identities, lifetime)
  }

  private func remember(_ codes: Set<String>, of hashes: [String], by player: String, until end: Int64) throws {
    for hash in hashes {
      let paid = try paidRewards(PaidRewards.identityKind, key: hash) ?? PaidRewards()
      let value = paid.adding(codes, of: player, until: end).text
      session.put(KeyedRecordChange(kind: PaidRewards.identityKind, key: hash, value: value), in: namespace)
    }
  }

  /// What was paid for a player; nil if nothing was.
  private func paidRewards(of uid: String) throws -> PaidRewards? {
    try paidRewards(PaidRewards.playerKind, key: uid)
  }

  private func paidRewards(_ kind: String, key: String) throws -> PaidRewards? {
    try read { try session.record(in: namespace, kind: kind, key: key) }
      .map { PaidRewards(stored: $0) }
  }
}
