import Credentials
import Logging
import ServerConfiguration
import StorageCore
import StoragePostgres

/// The keys that the leading node signs with, on a node that follows: for checking tokens, and for nothing else.
struct FollowedKeys {
  /// How often PostgreSQL is asked for them, in milliseconds: a new key is published two hours before it signs.
  private static let interval: Int64 = 60_000
  /// The same while they could not be had.
  private static let retryInterval: Int64 = 2000

  /// The keys, as they were found last.
  let keys: CurrentKeys
  /// Nil where every node has keys of its own.
  private let vault: KeyVault?
  private let folder: KeyFolder
  private var names: [KeyID] = []
  private var askAt: Int64 = .min
  /// Why they could not be had the last time; said once.
  private var trouble: String?

  /// Whether there are some, where all nodes have the same.
  var areKnown: Bool { vault == nil || !names.isEmpty }

  /// - `folder`: the node's data folder.
  init(_ settings: ClusterSettings, cell: PostgresCell, folder: String) throws(StorageError) {
    self.folder = KeyFolder(path: "\(folder)/keys")
    vault = try settings.sealingKey.map { key throws(StorageError) in
      try KeyVault(key, cell: cell, fence: 0, folder: "\(folder)/keys")
    }
    // Of no other server: whatever is signed with another key is no token.
    keys = CurrentKeys {
      guard let key = try? SigningKey.generate() else {
        preconditionFailure("No RSA key could be made: the machine has no memory, or no randomness.")
      }
      return KeyRing([KeyRing.Entry(key: key, signsFrom: 0)])
    }
  }

  /// Asks for them, if it is time. What cannot be had now is asked for the next time.
  ///
  /// - `archive`: asks the server that the follower asks.
  mutating func refresh(from archive: PostgresArchive, at now: Int64, logger: Logger) {
    guard now >= askAt else { return }
    askAt = now + Self.retryInterval
    do {
      if let vault, try !vault.fetch(from: archive) { return }
      let found = try folder.load()
      let names = found.map(\.key.id)
      if !names.isEmpty { askAt = now + Self.interval }
      guard !found.isEmpty, names != self.names else { return }
      self.names = names
      trouble = nil
      keys.replace(with: KeyRing(found))
    } catch {
      let reason = "\(error)"
      guard reason != trouble else { return }
      trouble = reason
      logger.warning(
        "the signing keys could not be read: tokens are checked by those from before", metadata: ["reason": "\(reason)"])
    }
  }
}
