import AdminAPI
import Logging
import StorageCore

/// Finishes erasures that a crash has cut off, and reminds of those that wait for an administrator.
struct ErasureKeeper: Sendable {
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
