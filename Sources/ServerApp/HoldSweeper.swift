import Ledger
import Logging
import RewardModel
import StorageCore

/// Frees holds that nobody released in time.
struct HoldSweeper: Sendable {
  /// How often it looks, in milliseconds.
  static let interval: Int64 = 60_000

  let ledger: LedgerBook
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
      let namespaces = try engine.read { (snapshot) throws(StorageError) in try snapshot.namespaces() }
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
