import Accounts
import AdminAPI
import CMalloc
import Ledger
import Logging
import RewardModel
import PlayerLifecycle
import ServiceLifecycle
import StorageCore
import TreeDatabase
import TreeModel

/// Long-lived work as a service: it is cancelled when the group shuts down.
///
/// Targets of the lower layers know nothing of service groups; they have a `run()` that ends when its task is cancelled.
struct BackgroundService: Service {
  let name: String
  private let work: @Sendable () async throws -> Void

  init(name: String, _ work: @escaping @Sendable () async throws -> Void) {
    self.name = name
    self.work = work
  }

  func run() async throws {
    do {
      try await cancelWhenGracefulShutdown { try await work() }
    } catch is CancellationError {
      // That is how it ends.
    }
  }
}

/// Frees holds that were not released in time.
struct HoldSweeper: Sendable {
  /// How often it looks, in milliseconds.
  static let interval: Int64 = 60_000

  let ledger: LedgerService
  let engine: any StorageEngine
  let clock: any WallClock
  let logger: Logger

  /// Looks at once and then every minute, until the task is cancelled.
  @Sendable func run() async throws {
    while true {
      await sweep()
      try await clock.sleep(until: clock.now() + Self.interval)
    }
  }

  private func sweep() async {
    do {
      let namespaces = try engine.read { snapshot in try snapshot.namespaces() }
      for namespace in namespaces {
        let sweep = try await ledger.expireHolds(in: namespace.id, now: clock.now())
        for failure in sweep.failures {
          logger.warning(
            "a hold could not be freed", metadata: ["hold": "\(failure.hold.sequence)", "why": "\(failure.error)"])
        }
      }
    } catch {
      // The next round tries again: nothing is lost, the coins stay where they are.
      logger.warning("holds could not be looked through", metadata: ["why": "\(error)"])
    }
  }
}

/// Removes anonymous accounts that are unused and have neither coins nor a referral, and records of expired tokens.
struct AccountSweeper: Sendable {
  /// How often it looks, in milliseconds.
  static let interval: Int64 = 3_600_000

  let accounts: AccountService
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
      let namespaces = try engine.read { snapshot in try snapshot.namespaces() }
      for namespace in namespaces {
        let project = AccountProject(name: namespace.name, namespace: namespace.id)
        let removed = try await accounts.cleaner.sweep(project) { uid, snapshot in
          try isAttached(uid, in: namespace.id, snapshot: snapshot)
        }
        try await accounts.cleaner.forgetPaidIdentities(in: project)
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
  private func isAttached(_ uid: String, in namespace: NamespaceID, snapshot: any Snapshot) throws -> Bool {
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

/// Finishes erasures that a crash has cut off, and reminds of those that wait for an administrator.
struct ErasureResumer: Sendable {
  /// How often it looks, in milliseconds.
  static let interval: Int64 = 3_600_000

  let erasure: PlayerErasure
  let clock: any WallClock
  let logger: Logger

  /// Looks at once and then every hour, until the task is cancelled.
  @Sendable func run() async throws {
    while true {
      await resume()
      try await clock.sleep(until: clock.now() + Self.interval)
    }
  }

  private func resume() async {
    do {
      for uid in try await erasure.resume() {
        logger.warning(
          "the erasure of a player has begun and waits; order it again with \"doubloon accounts erase\"",
          metadata: ["uid": "\(uid)"])
      }
    } catch {
      // The next round tries again.
      logger.warning("an erasure could not be finished", metadata: ["why": "\(error)"])
    }
  }
}

/// Gives memory back to the system after a flood, which the C library's allocator would keep for the next.
package struct MemoryTrimmer: Sendable {
  /// How often it looks, in milliseconds.
  private static let interval: Int64 = 2000
  /// Store memory that was unused for so many checks is released.
  private static let unusedLooks = 5
  /// A change of the process's memory that is worth the work.
  private static let worthBytes = 16 << 20
  /// How often it is tried after a change: what was allocated by a flood may be in use for a while.
  private static let triesMax = 20

  let clock: any WallClock
  /// Where pieces of the store are kept in memory.
  let database: Database

  /// Before anything large is allocated.
  package static func prepare() { cmalloc_give_large_pieces_back() }

  /// Looks every two seconds, until the task is cancelled.
  @Sendable func run() async throws {
    var settled = Int(cmalloc_resident_bytes())
    var tries = 0
    while true {
      try await clock.sleep(until: clock.now() + Self.interval)
      if abs(Int(cmalloc_resident_bytes()) - settled) >= Self.worthBytes { tries = Self.triesMax }
      guard tries > 0 else { continue }
      tries -= 1
      if tries % Self.unusedLooks == 0 { database.releaseUnusedMemory() }
      cmalloc_trim()
      settled = Int(cmalloc_resident_bytes())
    }
  }
}
