internal import CSQLite
internal import RewardModel
public import StorageCore

extension SQLiteEngine {
  /// Copies the store, as of now, into one file; the writer and readers go on. An earlier backup of that name is replaced, whole.
  ///
  /// - Throws: `StorageError.Code.unsuitable` for what is there and no backup, and for a data folder.
  public func backup(to path: String) throws(StorageError) {
    let target = try replaceable(path)
    let connection = try pool.take()
    defer { pool.give(connection) }
    try connection.backup(to: target)
  }

  /// The file that a backup goes to: links stay, and what they lead to is replaced.
  private func replaceable(_ path: String) throws(StorageError) -> String {
    let target = try FileCalls.target(of: path)
    // Its name could be the live store's, or that of a file which SQLite keeps beside it.
    guard !FileCalls.isSame(FileCalls.folder(of: target), FileCalls.folder(of: self.path)) else {
      throw StorageError(
        .unsuitable,
        "\(path) is in the data folder, where a backup could replace the live store. Name a file in another folder.")
    }
    if let objection = BackupTarget.objection(to: target) { throw StorageError(.unsuitable, objection) }
    return target
  }

  /// Puts a backup into a fresh folder, after checking it, and begins a new epoch: what happens from now on has other event
  /// ids than what happened after the backup and is lost with it.
  ///
  /// - `isMoved`: whether the file itself becomes the store; else it stays, and is copied.
  /// - `moment`: the moment that the store is brought back to; nil leaves it as the backup has it.
  /// - `derivedKinds`: kinds of keyed records that the next start makes again from the tree of that moment.
  /// - Returns: the new epoch.
  /// - Throws: `StorageError.Code.damaged` if the file or one of its hash chains is broken.
  @discardableResult
  public static func restore(
    from backup: String, to directory: String, isMoved: Bool = false, moment: StoreMoment? = nil, derivedKinds: [String] = []
  ) throws(StorageError) -> Int64 {
    let folder = try DataFolder(directory)
    defer { folder.release() }
    try throwIfData(in: folder)
    let partial = folder.store + ".restoring"
    // What a restore left that was killed: SQLite would take its log for a part of this backup.
    FileCalls.removeStore(partial)
    do {
      if isMoved { try FileCalls.rename(backup, to: partial) } else { try FileCalls.copy(backup, to: partial) }
      let epoch = try check(partial) { connection throws(StorageError) in
        guard let moment else { return }
        try StoreRewind(connection: connection, derivedKinds: derivedKinds).run(to: moment)
      }
      try FileCalls.sync(partial)
      try FileCalls.rename(partial, to: folder.store)
      try FileCalls.sync(directory)
      return epoch
    } catch {
      FileCalls.removeStore(partial)
      throw error
    }
  }

  /// Says no to a folder with a store, or with a log that was left of one: SQLite would play that over the backup.
  private static func throwIfData(in folder: DataFolder) throws(StorageError) {
    for ending in FileCalls.storeEndings where FileCalls.exists(folder.store + ending) {
      throw StorageError(
        .failed,
        "The folder must not hold data yet, but \(folder.store)\(ending) is there. Restore into an empty folder, "
          + "or move all files of the old store out of this one first.")
    }
  }

  /// Checks a copy, lets it be changed, and raises its epoch; returns it.
  private static func check(
    _ path: String, change: (SQLiteConnection) throws(StorageError) -> Void
  ) throws(StorageError) -> Int64 {
    let connection = try SQLiteConnection(path: path)
    defer { connection.close() }
    // Programs in a database: somebody else's, that would run when it is read or written, and need not end.
    guard try connection.texts("SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view') LIMIT 1").isEmpty else {
      throw StorageError(
        .damaged, "It has triggers or views, which Doubloon puts into no store: it was changed. Restore another backup.")
    }
    try StoreOpening.throwIfNewer(connection)
    let faults = try connection.texts("PRAGMA integrity_check(5)")
    guard faults == ["ok"] else {
      throw StorageError(.damaged, "The backup is damaged: \(faults.joined(separator: "; ")). Restore an older one.")
    }
    for namespace in try connection.namespaces() { try connection.verifyHeads(of: namespace) }
    try change(connection)
    // A backup of a working copy becomes a store of its own.
    if try connection.journalPosition() != nil { try connection.endCopy() }
    for namespace in try connection.namespaces() { try connection.verifyHeads(of: namespace) }
    let epoch = try connection.beginEpoch()
    // Closing removes the log file; what is in it has to be in the main file before that is renamed.
    _ = try connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
    return epoch
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
