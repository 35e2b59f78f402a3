import Credentials
import Logging
import ServerConfiguration
import StorageCore

/// Keeps the signing keys: makes the first, rotates them, and forgets those that nothing valid is signed with.
struct KeyRotator: Sendable {
  /// How often it looks whether a key is due, in milliseconds.
  static let interval: Int64 = 3_600_000

  /// Nil where keys live in memory alone, and die with the process.
  let folder: KeyFolder?
  let keys: CurrentKeys
  let clock: any WallClock
  let logger: Logger

  /// Reads the keys that are there. Without any, the first is made when it is needed.
  ///
  /// - `mirror`: keeps what is in the folder elsewhere, too.
  /// - Throws: ``KeyFolderError``
  init(
    storage: ServerConfiguration.Storage, clock: any WallClock, mirror: (@Sendable () throws -> Void)? = nil, logger: Logger
  ) throws {
    let folder: KeyFolder? =
      if case .directory(let data) = storage { KeyFolder(path: "\(data)/keys", mirror: mirror) } else { nil }
    self.folder = folder
    self.clock = clock
    self.logger = logger
    let found = try folder?.load() ?? []
    keys =
      found.isEmpty
      ? CurrentKeys { KeyRing([Self.firstKey(in: folder, at: clock.now(), logger: logger)]) }
      : CurrentKeys(KeyRing(found))
  }

  private static func firstKey(in folder: KeyFolder?, at now: Int64, logger: Logger) -> KeyRing.Entry {
    guard let key = try? SigningKey.generate() else {
      preconditionFailure("No RSA key could be made: the machine has no memory, or no randomness.")
    }
    // It signs at once: there is no earlier one.
    let entry = KeyRing.Entry(key: key, signsFrom: now)
    do {
      try folder?.save(entry)
    } catch {
      logger.error(
        "the signing key could not be kept: who signs in now must sign in again after a restart",
        metadata: ["reason": "\(error)"])
    }
    return entry
  }

  /// Looks every hour until the task is cancelled.
  @Sendable func run() async throws {
    // Beside the start, not in its way.
    if folder != nil { _ = keys.ring }
    while true {
      if keys.areMade { rotate() }
      try await clock.sleep(until: clock.now() + Self.interval)
    }
  }

  /// Does what is due.
  func rotate() {
    let now = clock.now()
    do {
      if let start = keys.ring.nextStart(at: now) {
        let entry = KeyRing.Entry(key: try SigningKey.generate(), signsFrom: start)
        // First on disk: what is published must come back after a restart.
        try folder?.save(entry)
        keys.replace(with: keys.ring.adding(entry.key, from: entry.signsFrom))
        logger.notice("a new signing key is published", metadata: ["key": "\(entry.key.id)", "signsFrom": "\(start)"])
      }
      let outlived = keys.ring.outlived(at: now)
      guard !outlived.isEmpty else { return }
      keys.replace(with: keys.ring.removing(outlived))
      for id in outlived {
        try folder?.remove(id)
        logger.notice("a signing key was removed", metadata: ["key": "\(id)"])
      }
    } catch {
      logger.error("the signing keys could not be rotated; the next attempt is in an hour", metadata: ["reason": "\(error)"])
    }
  }
}
