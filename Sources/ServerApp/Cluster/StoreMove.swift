import Glibc
package import ServerConfiguration
package import StorageCore
import StoragePostgres
import StorageSQLite

/// Takes a store from a data folder into PostgreSQL, or from there into a folder of its own.
package struct StoreMove: Sendable {
  /// What was moved.
  package struct Report: Sendable {
    /// The last batch that it holds; 0 for one that just began.
    package let batch: Int64
    /// How large the store is, in bytes.
    package let bytes: Int64
    /// Whether the signing keys went along.
    package let hasKeys: Bool
  }

  private let settings: ClusterSettings
  private let folder: String

  /// - `settings`: where the store is kept in PostgreSQL.
  /// - `folder`: the data folder.
  package init(_ settings: ClusterSettings, folder: String) {
    self.settings = settings
    self.folder = folder
  }

  private var cell: PostgresCell {
    PostgresCell(url: settings.url, schema: settings.schema, allowsSingle: settings.allowsSingle)
  }

  private var store: String { "\(folder)/doubloon.db" }

  /// Takes the folder's store into a PostgreSQL that has none. The folder is a working copy from then on, so that nobody goes on with
  /// it alone.
  ///
  /// - Throws: `StorageError`; the store in the folder is as it was then, unless the message says otherwise.
  package func toPostgres() throws(StorageError) -> Report {
    guard FileBytes.exists(store) else { throw StorageError(.failed, "There is no store in \(folder).") }
    let lease = try PostgresLease(cell, node: "move")
    guard try lease.look() == nil else {
      throw StorageError(.failed, "This PostgreSQL has a store already, in schema \(settings.schema). Choose another schema.")
    }
    try lease.throwIfUnsafe()
    let file = "\(folder).moving"
    defer { unlink(file) }
    let engine = try SQLiteEngine(directory: folder, policy: UpgradePolicy(mode: .refused))
    do throws(StorageError) {
      try engine.backup(to: file)
    } catch {
      engine.close()
      throw error
    }
    engine.close()
    let origin = JournalPosition(batch: 0, fence: 0)
    try SQLiteEngine.makeWorkingCopy(of: file, at: origin)
    let archive = try PostgresArchive(cell, random: SystemRandomNumberGenerator())
    try archive.prepare()
    try WorkingCopy.guardedRows(in: file) { rows throws(StorageError) in try archive.put(guarded: rows) }
    guard try archive.create(from: file, schema: SchemaScript.version) else {
      throw StorageError(.failed, "Another node has begun a store in this PostgreSQL at the same moment; nothing was moved.")
    }
    try SQLiteEngine.makeWorkingCopy(of: store, at: origin)
    let vault = try vault()
    try vault?.push()
    return Report(batch: 0, bytes: Self.size(of: file), hasKeys: vault != nil)
  }

  /// Takes the store out of PostgreSQL into an empty folder. Nobody leads there any more.
  ///
  /// - Throws: `StorageError`, also while a node leads.
  package func fromPostgres() throws(StorageError) -> Report {
    guard !FileBytes.exists(store) else { throw StorageError(.failed, "\(folder) holds a store. Choose an empty folder.") }
    let lease = try PostgresLease(cell, node: "move")
    guard let view = try lease.look() else {
      throw StorageError(.failed, "This PostgreSQL has no store in schema \(settings.schema).")
    }
    guard view.isClean || view.node == "move" else {
      throw StorageError(.failed, "The node \(view.node) leads. Stop all nodes first.")
    }
    guard let taken = try lease.take(view, address: "") else {
      throw StorageError(.failed, "A node has begun to lead at this moment. Stop all nodes first.")
    }
    let archive = try PostgresArchive(cell, random: SystemRandomNumberGenerator())
    guard let base = try archive.newestBase() else { throw StorageError(.damaged, "PostgreSQL has no base of the store.") }
    if mkdir(folder, 0o700) != 0, errno != EEXIST {
      throw StorageError(.failed, "\(folder) cannot be made: \(String(cString: strerror(errno))).")
    }
    let file = "\(folder)/base.loading"
    defer { unlink(file) }
    try archive.download(base, to: file)
    try WorkingCopy.install(file, in: folder)
    let copy = try WorkingCopy(in: folder)
    var hash = base.hash
    while true {
      let next = try archive.batches(after: copy.position, hash: &hash)
      if next.isEmpty { break }
      try copy.apply(next)
    }
    let last = copy.position.batch
    copy.close()
    guard last == taken.batch else {
      throw StorageError(.damaged, "The log in PostgreSQL ends with batch \(last), the lease with \(taken.batch).")
    }
    try SQLiteEngine.makeWorkingCopy(of: store, at: nil)
    let vault = try vault(fence: taken.fence)
    try vault?.pull()
    try lease.retire(fence: taken.fence)
    return Report(batch: last, bytes: Self.size(of: store), hasKeys: vault != nil)
  }

  private func vault(fence: Int64 = 0) throws(StorageError) -> KeyVault? {
    guard let key = settings.sealingKey else { return nil }
    return try KeyVault(key, cell: cell, fence: fence, folder: "\(folder)/keys")
  }

  private static func size(of path: String) -> Int64 {
    var facts = stat()
    return stat(path, &facts) == 0 ? Int64(facts.st_size) : 0
  }
}
