import Credentials
public import StorageCore

extension AccountBook {
  /// Accounts that one round removes at most: the next goes on.
  private static let sweepMax = 1000
  /// How long it is remembered that an account was deleted, so that a client which comes back is told: 30 days.
  private static let deletionMemory: Int64 = 30 * 86_400_000

  /// Removes anonymous accounts that were unused for the configured time, and revocations that no living token is concerned
  /// by.
  ///
  /// - Parameter isAttached: whether something hangs on a player, so that the account stays.
  /// - Returns: how many accounts were removed.
  public func sweep(
    _ project: AccountProject,
    keeping isAttached: @Sendable (_ uid: String, _ snapshot: any Snapshot) throws(StorageError) -> Bool
  ) async throws(AccountError) -> Int {
    try await forgetRevocations(of: project)
    guard let lifetime = options.anonymousLifetime else { return 0 }
    let limit = clock.now() - lifetime
    let unused = try look { (snapshot) throws(StorageError) -> [AccountRecord] in
      var found: [AccountRecord] = []
      for record in try snapshot.anonymousAccounts(in: project.namespace, unusedSince: limit, limit: Self.sweepMax) {
        if try !isAttached(record.uid, snapshot) { found.append(record) }
      }
      return found
    }
    for record in unused {
      try await change(project, by: .system("accounts")) { (bench) throws(AccountError) in
        // Used, or linked, in the meantime: it stays.
        guard let current = try bench.account(record.uid), current.isAnonymous, current.usedAt < limit else { return }
        try bench.delete(current)
      }
    }
    return unused.count
  }

  private func forgetRevocations(of project: AccountProject) async throws(AccountError) {
    let now = clock.now()
    let kept = try look { (snapshot) throws(StorageError) in try snapshot.accountRevocations(in: project.namespace) }
    let lifetime = IDTokenIssuer.lifetime * 2000
    let dead = kept.filter { $0.effectiveAt + lifetime < now }
    watch.forget(dead.map(\.uid), in: project.namespace)
    let gone = dead.filter { $0.reason != .deleted || $0.effectiveAt + Self.deletionMemory < now }
    guard !gone.isEmpty else { return }
    try await change(project, by: .system("accounts")) { (bench) throws(AccountError) in
      for one in gone { bench.remove(.revocation(one.uid)) }
    }
  }
}
