import Glibc
import Logging
import StorageCore
import StoragePostgres
import StorageSQLite

/// Brings a node's working copy to what PostgreSQL has, and makes it again where it cannot be brought there. For one thread.
final class CopyFollower {
  private let folder: String
  let archive: PostgresArchive
  private let schema: SchemaHistory
  private let watcher: (any CopyWatching)?
  private let logger: Logger
  private var copy: WorkingCopy?
  /// The place in the chain of the copy's last batch.
  private var hash: [UInt8] = []

  /// - `folder`: the node's data folder.
  /// - `watcher`: is told what becomes of the copy; nil where nobody is.
  init(folder: String, archive: PostgresArchive, schema: SchemaHistory, watcher: (any CopyWatching)? = nil, logger: Logger) {
    self.watcher = watcher
    self.folder = folder
    self.archive = archive
    self.schema = schema
    self.logger = logger
  }

  /// Makes the cell's first base of an empty store, unless another node was faster.
  func create() throws(StorageError) {
    close()
    let file = "\(folder)/first.base"
    unlink(file)
    defer { unlink(file) }
    try SQLiteEngine.makeFirstCopy(at: file)
    if try archive.create(from: file, schema: schema.version) {
      logger.notice("made a new store in PostgreSQL")
    }
  }

  /// Takes in every batch that there is.
  ///
  /// - Returns: where the copy stands.
  func catchUp() throws(StorageError) -> JournalPosition {
    do throws(StorageError) {
      let copy = try opened()
      while true {
        var place = hash
        let next = try archive.batches(after: copy.position, hash: &place)
        guard !next.isEmpty else { return copy.position }
        try takeIn(next, copy)
        // A copy that had no room for them is where it was.
        hash = place
      }
    } catch {
      guard error.code == .damaged else { throw error }
      logger.warning("the working copy is made again", metadata: ["reason": "\(error.message)"])
      close()
      try WorkingCopy.discard(in: folder)
      throw error
    }
  }

  private func takeIn(_ batches: [JournalBatch], _ copy: WorkingCopy) throws(StorageError) {
    var tables: Set<String> = []
    defer { if !tables.isEmpty { watcher?.didShow(tables) } }
    try copy.apply(batches) { touched in
      tables = touched
      watcher?.willShow(touched)
    }
  }

  /// Gives the copy to who writes next.
  ///
  /// - Returns: the place in the chain of its last batch, and the version of its schema.
  func handOver() throws(StorageError) -> (hash: [UInt8], schema: Int) {
    let schema = try opened().schema
    let last = hash
    close()
    return (last, schema)
  }

  func close() {
    if copy != nil { watcher?.willClose() }
    copy?.close()
    copy = nil
  }

  private func opened() throws(StorageError) -> WorkingCopy {
    if let copy { return copy }
    if access("\(folder)/doubloon.db", F_OK) != 0 { try install() }
    let opened = try WorkingCopy(in: folder, schema: schema)
    // A batch that the log does not know: this node wrote it, and it never became durable; or the log was pruned beyond it.
    guard let hash = try archive.hash(at: opened.position) else {
      opened.close()
      throw StorageError(.damaged, "PostgreSQL does not know batch \(opened.position.batch) of term \(opened.position.fence).")
    }
    self.hash = hash
    copy = opened
    watcher?.didOpen(folder)
    return opened
  }

  private func install() throws(StorageError) {
    guard let base = try archive.newestBase() else { throw StorageError(.lost, "PostgreSQL has no base of the store yet.") }
    guard base.schema <= schema.version else {
      throw StorageError(
        .newerSchema,
        "The store in PostgreSQL has schema \(base.schema), this program knows up to \(schema.version). Use a newer one.")
    }
    let file = "\(folder)/base.loading"
    if mkdir(folder, 0o700) != 0, errno != EEXIST {
      throw StorageError(.failed, "\(folder) cannot be made: \(String(cString: strerror(errno))).")
    }
    defer { unlink(file) }
    try archive.download(base, to: file)
    try WorkingCopy.install(file, in: folder)
    logger.notice("loaded a working copy", metadata: ["bytes": "\(base.bytes)", "batch": "\(base.position.batch)"])
  }
}
