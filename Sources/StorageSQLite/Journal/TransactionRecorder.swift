internal import StorageCore
internal import Synchronization

/// Gives the transactions of a store to a journal, in the order in which they are committed: the writer's batches, and the few
/// around them.
///
/// Every transaction on the store's file is a batch. Who changes it holds SQLite's write lock, so one transaction at a time asks
/// for a number.
final class JournalOrder: Sendable {
  let journal: any BatchJournal
  private let position: Mutex<JournalPosition>

  /// - `position`: the copy's last batch, and the fence of the term that begins.
  init(_ journal: any BatchJournal, after position: JournalPosition) {
    self.journal = journal
    self.position = Mutex(position)
  }

  fileprivate var next: JournalPosition {
    position.withLock { JournalPosition(batch: $0.batch + 1, fence: $0.fence) }
  }

  fileprivate func append(_ batch: JournalBatch) throws(StorageError) {
    try journal.append(batch)
    position.withLock { $0 = batch.position }
  }
}

/// One connection's part of it: collects what a transaction changes, and sends it before the transaction is committed.
final class TransactionRecorder {
  private unowned let connection: SQLiteConnection
  private let order: JournalOrder
  private let capture: ChangeCapture

  init(_ connection: SQLiteConnection, order: JournalOrder) throws(StorageError) {
    self.connection = connection
    self.order = order
    capture = try ChangeCapture(connection)
  }

  /// Sends what the open transaction has changed; the last thing before its COMMIT.
  func record() throws(StorageError) {
    guard !capture.isEmpty else { return }
    let position = order.next
    try connection.putJournalPosition(position)
    let (changes, guarded) = try capture.take()
    try order.append(JournalBatch(position: position, changes: changes, guarded: guarded))
  }

  /// Waits until the journal has what was sent.
  func settle() throws(StorageError) { try order.journal.flush() }

  /// Ends the term, for the journal has what this copy has not.
  fileprivate func abandon(_ error: StorageError) {
    order.journal.end("the working copy could not take in what PostgreSQL has: \(error.message)")
  }

  /// Forgets what a transaction changed that was rolled back.
  func forget() { capture.forget() }

  /// Before the connection is closed.
  func end() { capture.end() }
}

extension SQLiteConnection {
  /// Commits the open transaction, of a working copy once the journal has it.
  ///
  /// A copy that cannot take in what the journal has lacks a batch from then on: what it would write next would fit on no other copy.
  func commitOnceDurable() throws(StorageError) {
    try recorder?.record()
    try recorder?.settle()
    do throws(StorageError) {
      try execute("COMMIT")
    } catch {
      recorder?.abandon(error)
      throw error
    }
  }

  /// The name under which a working copy's position stands among the digests: it is about the copy, and no table has it.
  static let journalName = "journal"

  /// Where a working copy stands; nil for a store that is none.
  func journalPosition() throws(StorageError) -> JournalPosition? {
    guard try !texts("SELECT name FROM sqlite_master WHERE name = 'row_digest'").isEmpty else { return nil }
    return try SQLiteStatement(
      "SELECT row_count, digest FROM row_digest WHERE ns = 0 AND name = '\(Self.journalName)'", on: self, isKept: false
    ).first { row throws(StorageError) in
      JournalPosition(
        batch: row.int(0), fence: row.bytes(1).prefix(8).reversed().reduce(0) { $0 << 8 | Int64($1) })
    }
  }

  /// In the transaction that makes it true.
  func putJournalPosition(_ position: JournalPosition) throws(StorageError) {
    var fence = withUnsafeBytes(of: position.fence.littleEndian) { Array($0) }
    fence += [UInt8](repeating: 0, count: 32 - fence.count)
    try statement(.putPosition).bind(0).bind(Self.journalName).bind(position.batch).bind(fence).run()
  }

  /// Makes a working copy a store of its own.
  func endCopy() throws(StorageError) {
    try execute("DELETE FROM row_digest WHERE ns = 0 AND name = '\(Self.journalName)'")
  }
}
