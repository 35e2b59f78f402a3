internal import CSQLite
internal import RewardModel
public import StorageCore

extension SQLiteEngine {
  /// Copies the store, as of now, into one file; the writer and readers go on. A file of that name is replaced, whole.
  public func backup(to path: String) throws(StorageError) {
    let connection = try pool.take()
    defer { pool.give(connection) }
    try connection.backup(to: path)
  }

  /// Puts a backup into a fresh folder, after checking it, and begins a new epoch: what happens from now on has other event
  /// ids than what happened after the backup and is lost with it.
  ///
  /// - Returns: the new epoch.
  /// - Throws: ``StorageError/Code/damaged`` if the file or one of its hash chains is broken.
  @discardableResult
  public static func restore(from backup: String, to directory: String) throws(StorageError) -> Int64 {
    let folder = try DataFolder(directory)
    defer { folder.release() }
    guard !FileCalls.exists(folder.store) else {
      throw StorageError(.failed, "\(directory) already holds a store. Restore into an empty folder.")
    }
    let partial = folder.store + ".restoring"
    do {
      try FileCalls.copy(backup, to: partial)
      let epoch = try check(partial)
      try FileCalls.sync(partial)
      try FileCalls.rename(partial, to: folder.store)
      try FileCalls.sync(directory)
      return epoch
    } catch {
      for ending in ["", "-wal", "-shm"] { FileCalls.remove(partial + ending) }
      throw error
    }
  }

  /// Checks a copy, and raises its epoch; returns it.
  private static func check(_ path: String) throws(StorageError) -> Int64 {
    let connection = try SQLiteConnection(path: path)
    defer { connection.close() }
    try StoreOpening.refuseNewer(connection)
    let faults = try connection.texts("PRAGMA integrity_check(5)")
    guard faults == ["ok"] else {
      throw StorageError(.damaged, "The backup is damaged: \(faults.joined(separator: "; ")). Restore an older one.")
    }
    for namespace in try connection.namespaces() { try connection.verifyHeads(of: namespace) }
    guard let epoch = try connection.meta(.epoch) else { throw connection.damaged("the store's epoch") }
    try connection.setMeta(.epoch, to: epoch + 1)
    // Closing removes the log file; what is in it has to be in the main file before that is renamed.
    _ = try connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
    return epoch + 1
  }
}

extension SQLiteConnection {
  /// Checks that the last commit and the last ledger entry are what was written after the ones before them.
  fileprivate func verifyHeads(of namespace: NamespaceRecord) throws(StorageError) {
    let head = try head(namespace.id)
    let pruned = try watermark(namespace.id).pruned
    if let last = try commit(namespace.id, at: head.revision) {
      let previous = try commit(namespace.id, at: head.revision.previous)
      // Where the log was pruned there may be no record before the last.
      guard last.verify(after: previous) || (previous == nil && head.revision.rawValue <= pruned + 1) else {
        throw damaged("\(namespace.name): commit \(head.revision) does not verify, it")
      }
    }
    if let last = try entry(namespace.id, sequence: head.entrySequence) {
      guard last.verify(after: try entry(namespace.id, sequence: head.entrySequence - 1)) else {
        throw damaged("\(namespace.name): ledger entry \(head.entrySequence) does not verify, it")
      }
    }
  }
}
