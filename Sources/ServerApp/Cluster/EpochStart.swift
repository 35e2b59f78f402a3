import Glibc
import Logging
package import ServerConfiguration
package import StorageCore
import StoragePostgres
import StorageSQLite

/// Begins a new epoch of a store in PostgreSQL that was brought back to an earlier moment: what happens from then on has other event ids
/// than what was lost, so nothing is mistaken for something that was paid already.
package struct EpochStart: Sendable {
  /// More terms than can have been lost with what was after the moment.
  private static let terms: Int64 = 1000

  private let settings: ClusterSettings
  private let folder: String

  /// - `folder`: a folder for the copy that it takes, which is left there.
  package init(_ settings: ClusterSettings, folder: String) {
    self.settings = settings
    self.folder = folder
  }

  /// Leads for a moment, and begins the epoch.
  ///
  /// - Returns: the new epoch.
  /// - Throws: `StorageError`, also while a node lives.
  package func run() throws(StorageError) -> Int64 {
    let cell = PostgresCell(url: settings.url, schema: settings.schema, allowsSingle: settings.allowsSingle)
    let lease = try PostgresLease(cell, node: "epoch")
    guard let view = try lease.look() else {
      throw StorageError(.failed, "This PostgreSQL has no store in schema \(settings.schema).")
    }
    try lease.throwIfUnsafe()
    let before = try lease.nodes()
    usleep(UInt32(PostgresLease.beatInterval * 2500))
    let living = try lease.nodes().filter { before[$0.key]?.beat != $0.value.beat }.keys.sorted()
    guard living.isEmpty else {
      throw StorageError(.failed, "These nodes live: \(living.joined(separator: ", ")). Stop all nodes first.")
    }
    guard let taken = try lease.take(view, address: "", terms: Self.terms) else {
      throw StorageError(.failed, "A node has begun to lead at this moment. Stop all nodes first.")
    }
    let follower = CopyFollower(
      folder: folder, archive: PostgresArchive(beside: lease, random: SystemRandomNumberGenerator()), schema: .released,
      logger: Logger(label: "doubloon"))
    defer { follower.close() }
    let position = try follower.catchUp()
    guard position.batch == taken.batch else {
      throw StorageError(.damaged, "The log in PostgreSQL ends with batch \(position.batch), the lease with \(taken.batch).")
    }
    let journal = try PostgresJournal(cell, fence: taken.fence, hash: try follower.handOver().hash)
    let engine = try SQLiteEngine(workingCopy: folder, journal: journal, fence: taken.fence)
    defer { engine.close() }
    let epoch = try engine.beginEpoch()
    try lease.release(fence: taken.fence)
    return epoch
  }
}
