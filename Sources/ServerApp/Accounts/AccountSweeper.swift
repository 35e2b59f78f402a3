import Accounts
import Logging
import RewardModel
import StorageCore
import TreeModel

/// Removes anonymous accounts that nobody uses and nothing hangs on, and what is known of tokens that are over.
struct AccountSweeper: Sendable {
  /// How often it looks, in milliseconds.
  static let interval: Int64 = 3_600_000

  let book: AccountBook
  let engine: any StorageEngine
  let currencies: [Currency]
  /// Where it stands who invited a player, as a path with `{uid}`: the link settings' word, which may change.
  let referral: @Sendable () -> String
  let clock: any WallClock
  let logger: Logger

  /// Looks at once and then every hour, until the task is cancelled.
  @Sendable func run() async throws {
    while true {
      await sweep()
      try await clock.sleep(until: clock.now() + Self.interval)
    }
  }

  /// One round through all namespaces.
  func sweep() async {
    do {
      let namespaces = try engine.read { (snapshot) throws(StorageError) in try snapshot.namespaces() }
      for namespace in namespaces {
        let project = AccountProject(name: namespace.name, namespace: namespace.id)
        let removed = try await book.sweep(project) { (uid, snapshot) throws(StorageError) in
          try isAttached(uid, in: namespace.id, snapshot)
        }
        try await book.forgetPaidIdentities(in: project)
        if removed > 0 {
          logger.notice(
            "unused anonymous accounts were removed", metadata: ["namespace": "\(namespace.name)", "count": "\(removed)"])
        }
      }
    } catch {
      // The next round tries again.
      logger.warning("accounts could not be looked through", metadata: ["why": "\(error)"])
    }
  }

  /// Whether coins or a referral hang on a player: then the account stays, however long it was unused.
  private func isAttached(_ uid: String, in namespace: NamespaceID, _ snapshot: any Snapshot) throws(StorageError) -> Bool {
    if let path = try? PathPattern(parsing: referral()).path(filling: [uid]),
      try !snapshot.leaves(in: namespace, under: PathBytes(path), limit: 1).isEmpty
    {
      return true
    }
    for currency in currencies {
      guard currency.pattern.captureNames.count == 1, let balance = try? currency.pattern.path(filling: [uid]) else { continue }
      if let leaf = try snapshot.leaf(in: namespace, at: PathBytes(balance)), leaf.leaf.scalar != .int(0) { return true }
      let account = LedgerAccount("\(currency.holder):\(uid)")
      if try !snapshot.entries(in: namespace, account: account, before: nil, limit: 1).isEmpty { return true }
    }
    return false
  }
}
