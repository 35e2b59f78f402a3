import Credentials
import Logging
import ServerConfiguration
import StorageCore
import StoragePostgres

/// The keys that the leading node signs with, on a node that follows: for checking tokens, and for nothing else.
struct FollowedKeys {
  /// How often PostgreSQL is asked for them, in milliseconds: a new key is published two hours before it signs.
  private static let interval: Int64 = 60_000

  /// The keys, as they were found last.
  let keys: CurrentKeys
  /// Nil where every node has keys of its own.
  private let vault: KeyVault?
  private let folder: KeyFolder
  private var names: [KeyID] = []
  private var askedAt: Int64?

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
  mutating func refresh(at now: Int64, logger: Logger) {
    if let askedAt, now - askedAt < Self.interval { return }
    askedAt = now
    do {
      if let vault, try !vault.fetch() { return }
      let found = try folder.load()
      let names = found.map(\.key.id)
      guard !found.isEmpty, names != self.names else { return }
      self.names = names
      keys.replace(with: KeyRing(found))
    } catch {
      logger.warning(
        "the signing keys could not be read: tokens are checked by those from before", metadata: ["reason": "\(error)"])
    }
  }
}
