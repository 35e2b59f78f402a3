package import StorageCore
package import TreeModel

/// What administrators do beside the protocol.
extension AccountService {
  /// A page of accounts by uid, without hashes.
  package func page(of project: AccountProject, after uid: String?, limit: Int) throws(AccountError) -> JSON {
    let namespace = project.namespace
    let (page, count) = try look { (snapshot) throws(StorageError) in
      (try snapshot.accounts(in: namespace, after: uid, limit: limit), try snapshot.accountCount(in: namespace))
    }
    return JSON(fields: [
      ("accounts", .array(page.map(UserJSON.own))), ("count", .int(count)),
      ("next", page.count == limit ? page.last.map { .string($0.uid) } : nil),
    ])
  }

  /// One account, without its hash.
  ///
  /// - Throws: `USER_NOT_FOUND`.
  package func described(_ uid: String, of project: AccountProject) throws(AccountError) -> JSON {
    guard let record = try account(uid, of: project) else { throw AccountError("USER_NOT_FOUND") }
    return UserJSON.own(record)
  }

  /// The uid of the account that a mail address leads to; nil if none does.
  package func uid(ofEmail address: String, of project: AccountProject) throws(AccountError) -> String? {
    try account(.email(address.lowercased()), of: project)?.uid
  }

  /// Lets nobody sign in, or lets the player sign in again.
  package func setDisabled(_ isDisabled: Bool, _ uid: String, of project: AccountProject, by actor: StorageCore.Actor)
    async throws(AccountError) -> JSON
  {
    let record = try await change(project, by: actor) { (bench) throws(AccountError) in
      guard let before = try bench.account(uid) else { throw AccountError("USER_NOT_FOUND") }
      var record = before
      record.isDisabled = isDisabled
      try bench.save(record, from: before)
      return record
    }
    return UserJSON.own(record)
  }

  /// Takes every second factor from an account, and ends its sessions: whoever has the lost telephone may have one.
  package func removeSecondFactors(of uid: String, of project: AccountProject, by actor: StorageCore.Actor)
    async throws(AccountError) -> JSON
  {
    let record = try await change(project, by: actor) { (bench) throws(AccountError) in
      guard let before = try bench.account(uid) else { throw AccountError("USER_NOT_FOUND") }
      var record = before
      record.secondFactors = []
      record.validSince = max(record.validSince ?? 0, bench.seconds)
      try bench.save(record, from: before)
      return record
    }
    return UserJSON.own(record)
  }
}

/// What the erasure of a player, and the merge of two, need of the accounts.
extension AccountService {
  /// Lets nobody sign in to an account any more, as a part of a request that does more; without one it does nothing.
  package func disabling(_ uid: String) -> any WriterDecision {
    AccountChange(options, clock: clock) { (bench) throws(AccountError) in
      guard let before = try bench.account(uid), !before.isDisabled else { return }
      var record = before
      record.isDisabled = true
      try bench.save(record, from: before)
    }
  }

  /// Removes an account on the writer, as a part of a request that does more; without one it does nothing.
  package func removal(of uid: String) -> any WriterDecision {
    AccountChange(options, clock: clock) { (bench) throws(AccountError) in
      guard let record = try bench.account(uid) else { return }
      try bench.delete(record)
    }
  }
}

extension AccountRecord {
  /// Every mail address that is known as the player's, once.
  package var addresses: [String] {
    let all = [email, initialEmail].compactMap(\.self) + providers.compactMap(\.email)
    return Set(all).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
