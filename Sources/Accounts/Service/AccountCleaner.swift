import Credentials
package import StorageCore
import Synchronization

/// Removes what nobody uses any more: accounts, sessions, and the memory of both.
package struct AccountCleaner: Sendable {
  /// How far the clean-up of a namespace came: the next round goes on there, so that what is kept for good keeps nothing else.
  struct Mark: Sendable {
    /// The anonymous account that was looked at last; nil to begin with the longest unused.
    var account: AccountRecord?
    /// The hash of the session that was looked at last; nil to begin with the first.
    var session: [UInt8]?
  }

  /// Pages that one round looks at: the next goes on behind them.
  private static let pagesMax = 10
  /// How long it is remembered that an account was deleted, or a session ended, so that a client which comes back is
  /// told: 30 days.
  private static let deletionMemory: Int64 = 30 * 86_400_000
  /// How many records of paid rewards are read at once.
  private static let recordPage = 1000

  private let accounts: AccountService
  private var options: AccountOptions { accounts.options }

  init(_ accounts: AccountService) {
    self.accounts = accounts
  }

  /// Removes anonymous accounts that were unused for the configured time, sessions that ended a while ago, and revocations
  /// that no living token is concerned by. A round is bounded, and goes on where the last one stopped.
  ///
  /// - `isAttached`: whether something hangs on a player, so that the account stays.
  /// - Returns: how many accounts were removed.
  package func sweep(
    _ project: AccountProject,
    keeping isAttached: @Sendable (_ uid: String, _ snapshot: any Snapshot) throws -> Bool
  ) async throws -> Int {
    try await forgetRevocations(of: project)
    try await forgetSessions(of: project)
    guard let lifetime = options.anonymousLifetime else { return 0 }
    let limit = accounts.clock.now() - lifetime
    var removed = 0
    for _ in 0..<Self.pagesMax {
      let last = accounts.sweepMarks.withLock { $0[project.namespace]?.account }
      let (page, unused) = try accounts.read { (snapshot) -> ([AccountRecord], [AccountRecord]) in
        let page = try snapshot.anonymousAccounts(
          in: project.namespace, unusedSince: limit, after: last, limit: options.sweepPage)
        var unused: [AccountRecord] = []
        for record in page where try !isAttached(record.uid, snapshot) { unused.append(record) }
        return (page, unused)
      }
      for record in unused {
        removed += try await accounts.change(project, by: .system("accounts")) { transaction in
          // Used, or linked, in the meantime: it stays.
          guard let current = try transaction.account(record.uid), current.isAnonymous, current.usedAt < limit else { return 0 }
          try transaction.delete(current)
          return 1
        }
      }
      let mark = page.count == options.sweepPage ? page.last : nil
      accounts.sweepMarks.withLock { $0[project.namespace, default: Mark()].account = mark }
      if mark == nil { break }
    }
    return removed
  }

  /// Forgets sessions that ended so long ago that their clients were told, or will not come back.
  private func forgetSessions(of project: AccountProject) async throws {
    let (now, options) = (accounts.clock.now(), options)
    let isOver: @Sendable (RefreshTokenRecord, AccountRecord?) -> Bool = { session, record in
      guard let record else { return true }
      return AccountRules.end(of: session, account: record, options: options, at: now).map { $0 + Self.deletionMemory < now }
        ?? false
    }
    for _ in 0..<Self.pagesMax {
      let last = accounts.sweepMarks.withLock { $0[project.namespace]?.session }
      let (page, over) = try accounts.read { (snapshot) -> ([RefreshTokenRecord], [RefreshTokenRecord]) in
        let page = try snapshot.refreshTokens(in: project.namespace, after: last, limit: options.sweepPage)
        var over: [RefreshTokenRecord] = []
        for session in page {
          let record = try snapshot.account(in: project.namespace, uid: session.uid)
          guard isOver(session, record) else { continue }
          // Those of a deleted account go with the memory of it.
          if record == nil, try snapshot.accountRow(in: project.namespace, key: .revocation(session.uid)) != nil { continue }
          over.append(session)
        }
        return (page, over)
      }
      if !over.isEmpty {
        try await accounts.change(project, by: .system("accounts")) { [over] transaction in
          for session in over {
            guard let current = try transaction.session(session.hash), isOver(current, try transaction.account(current.uid))
            else {
              continue
            }
            transaction.remove(.refreshToken(hash: current.hash))
          }
        }
      }
      let mark = page.count == options.sweepPage ? page.last?.hash : nil
      accounts.sweepMarks.withLock { $0[project.namespace, default: Mark()].session = mark }
      if mark == nil { break }
    }
  }

  private func forgetRevocations(of project: AccountProject) async throws {
    let now = accounts.clock.now()
    let kept = try accounts.read { snapshot in try snapshot.accountRevocations(in: project.namespace) }
    let lifetime = IDTokenIssuer.lifetime * 2000
    let dead = kept.filter { $0.effectiveAt + lifetime < now }
    accounts.watch.forget(dead.map(\.uid), in: project.namespace)
    let gone = dead.filter { $0.reason != .deleted || $0.effectiveAt + Self.deletionMemory < now }
    guard !gone.isEmpty else { return }
    try await accounts.change(project, by: .system("accounts")) { transaction in
      for one in gone { transaction.remove(.revocation(one.uid)) }
    }
  }

  // MARK: Paid identities

  /// Forgets the identities of players who were paid and left when their time is over.
  package func forgetPaidIdentities(in project: AccountProject) async throws {
    let now = accounts.clock.now()
    try await forget(PaidRewards.identityKind, in: project) { (PaidRewards(stored: $0).until ?? .max) <= now }
    // What cannot be read is of no use.
    try await forget(FormerIdentities.kind, in: project) { (FormerIdentities(stored: $0)?.until ?? 0) <= now }
  }

  private func forget(_ kind: String, in project: AccountProject, where isOver: (String) -> Bool) async throws {
    var last: String?
    while true {
      let after = last
      let records = try accounts.read { snapshot in
        try snapshot.records(
          in: project.namespace, kind: kind, after: after, isDescending: false, limit: Self.recordPage)
      }
      var request = CommitRequest(namespace: project.namespace, actor: .system("account-sweep"))
      request.rows.records = records.filter { isOver($0.value) }.map {
        KeyedRecordChange(kind: $0.kind, key: $0.key, value: nil, expecting: .value($0.value))
      }
      if !request.rows.records.isEmpty {
        _ = try await accounts.store.writer.commit(request)
      }
      guard records.count == Self.recordPage else { return }
      last = records.last?.key
    }
  }
}
