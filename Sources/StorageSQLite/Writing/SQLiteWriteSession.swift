internal import RewardModel
internal import CSQLite
internal import StorageCore
internal import Synchronization
internal import TreeModel

/// The one writer's hold on a SQLite store: a buffer over the file, and the transaction that writes it.
///
/// `@unchecked Sendable`: used by one thread at a time, as `WriteSession` says. The engine keeps it only to close it, which
/// its contract allows after the writer's thread has ended.
final class SQLiteWriteSession: WriteSession, @unchecked Sendable {
  let epoch: Int64
  let connection: SQLiteConnection
  let history: HistoryMemory
  let gate: FlushGate
  let faults: SQLiteFaults?
  let log: LogFile
  var batch = Batch()
  /// Heads and names that are in the file, as far as they were asked for.
  var heads: [NamespaceID: NamespaceHead] = [:]
  var names: [ExactText: NamespaceID] = [:]
  var nextNamespace: Int64
  var nextAudit: Int64
  var lastAuditHash: [UInt8]
  /// Generations of the history that are being written: how many of their rows are in the file.
  var historyRows: [NamespaceID: Int] = [:]
  /// Why the session stopped for good. Of two threads: the session's own, and the one that flushes.
  private let stopped = Mutex<StorageError?>(nil)

  init(connection: SQLiteConnection, epoch: Int64, history: HistoryMemory, gate: FlushGate, faults: SQLiteFaults?)
    throws(StorageError)
  {
    guard let log = LogFileSystem.log(of: connection.handle) else {
      preconditionFailure("The writer's connection is opened through LogFileSystem, and has looked at its log.")
    }
    self.log = log
    self.gate = gate
    self.connection = connection
    self.epoch = epoch
    self.history = history
    self.faults = faults
    nextNamespace = try connection.meta(.nextNamespace) ?? 1
    nextAudit = try connection.lastAudit() + 1
    lastAuditHash = try connection.lastAuditHash()
    try removeUnfinishedHistory()
    try catchUpHistory()
  }

  /// The connection, unless a commit failed before; inside the one read transaction of the batch.
  ///
  /// Begun with the batch's first look: each look outside of a transaction would take and give back the locks of its own.
  var db: SQLiteConnection {
    get throws(StorageError) {
      if let failure { throw failure }
      if !connection.isInTransaction { try connection.statement(.begin).run() }
      return connection
    }
  }

  /// Why the session stopped for good.
  var failure: StorageError? { stopped.withLock { $0 } }

  func flush() throws(StorageError) {
    do throws(StorageError) {
      if let failure { throw failure }
      guard gate.hasUnflushed else { return }
      if let recorder = connection.recorder { try recorder.settle() } else { try syncLog() }
      try faults?.check(.afterCommit)
    } catch {
      if error.code == .lost { gate.didLose() } else { gate.didFlush() }
      throw fail(error)
    }
    gate.didFlush()
  }

  private func syncLog() throws(StorageError) {
    let code = log.sync()
    guard code != SQLITE_OK else { return }
    throw StorageError(sqlite: code, message: "the disk refused an fsync", path: connection.path, during: "a commit")
  }

  /// Ends the batch's looks. Nobody else writes, so what is written next still stands on what was seen.
  ///
  /// The read transaction is not turned into the write transaction: that fails at once, instead of waiting, while a
  /// checkpoint that restarts the WAL holds the write lock.
  func endReading() throws(StorageError) {
    if connection.isInTransaction { try connection.statement(.commit).run() }
  }

  func releaseMemory() { connection.releaseMemory() }

  /// Stops the session for good: what the disk holds is no longer known.
  func fail(_ error: StorageError) -> StorageError {
    stopped.withLock { stopped in
      let event =
        switch error.code {
        case .full: "there is room and the store is opened again"
        case .lost: "this node leads again"
        default: "the server is started again"
        }
      let first =
        stopped
        ?? StorageError(error.code, "\(error.message) Nothing more is written until \(event), with what is on the disk.")
      stopped = first
      return first
    }
  }

  // MARK: Marks

  func mark() -> WriteMark {
    WriteMark(position: batch.position)
  }

  func rollback(to mark: WriteMark) {
    batch.rollback(to: mark.position)
  }

  // MARK: Namespaces and heads

  func namespace(named name: String, creatingAt time: Int64?) throws(StorageError) -> NamespaceID? {
    let exact = ExactText(name)
    if let created = batch.created.last(where: { ExactText($0.name) == exact }), !batch.removed.contains(created.id) {
      return created.id
    }
    if names[exact] == nil { names[exact] = try db.namespace(named: name) }
    if let id = names[exact], !batch.removed.contains(id) { return id }
    guard let time else { return nil }
    let id = NamespaceID(rawValue: nextNamespace + Int64(batch.created.count))
    batch.recordWhole()
    batch.created.append(NamespaceRecord(id: id, name: name, createdAt: time))
    return id
  }

  func remove(_ namespace: NamespaceID) {
    batch.recordWhole()
    batch.removed.append(namespace)
    let empty = BatchOverlay()
    empty.rows.hidesStored = true
    batch.overlays[namespace] = empty
    let step = batch.beginStep()
    batch.heads.put(NamespaceHead(), at: namespace, step: step)
  }

  func head(of namespace: NamespaceID) throws(StorageError) -> NamespaceHead {
    if let head = batch.heads[namespace] ?? heads[namespace] { return head }
    let head = try db.head(namespace)
    heads[namespace] = head
    return head
  }

  func setHead(_ head: NamespaceHead, of namespace: NamespaceID) {
    let step = batch.beginStep()
    batch.heads.put(head, at: namespace, step: step)
  }

  func setSettledRevision(_ revision: Revision, of namespace: NamespaceID) {
    batch.stage(namespace) { $0.settledRevisions.append(revision, step: $1) }
  }
}
