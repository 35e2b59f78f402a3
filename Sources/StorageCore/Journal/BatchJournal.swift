/// Keeps the batches of a store outside of it: they are durable when the journal has them, and the store's own file is a working
/// copy, which can be made again from the journal.
///
/// One batch is on its way at a time. Of its outcomes a journal tells two: it is durable, or the term is lost. An outcome that is
/// not known (the connection broke while the batch was being taken in) is found out before ``flush()`` returns.
public protocol BatchJournal: AnyObject, Sendable {
  /// Sends a batch. Waits until the batch before is durable.
  ///
  /// - Throws: `StorageError.Code.lost`: nothing can be written in this term any more.
  func append(_ batch: JournalBatch) throws(StorageError)
  /// Waits until the batch that was sent is durable.
  ///
  /// - Throws: `StorageError.Code.lost`: the term is over, and what became of the batch is for the next term to find out.
  func flush() throws(StorageError)
  /// Ends the term: the working copy cannot take in what the journal has. Nothing is taken in afterwards.
  func end(_ reason: String)
  /// Whether what the working copy shows may be told: no other node can have written since.
  var isCurrent: Bool { get }
}

/// Where a working copy stands: the last batch that it holds, and the term in which that was written. Terms are counted by a fence,
/// so that no two batches have the same position.
public struct JournalPosition: Sendable, Hashable {
  /// Counts the batches from 1; 0 before the first.
  public var batch: Int64
  /// Counts the terms.
  public var fence: Int64

  public init(batch: Int64, fence: Int64) {
    self.batch = batch
    self.fence = fence
  }
}

/// Everything that one transaction of the store changes.
public struct JournalBatch: Sendable {
  /// Its number, and the term's.
  public let position: JournalPosition
  /// The rows of all tables, as they are afterwards: a patchset of SQLite's session extension.
  public let changes: [UInt8]
  /// The rows among them that the journal guards with keys of its own.
  public let guarded: [JournalRow]

  public init(position: JournalPosition, changes: [UInt8], guarded: [JournalRow]) {
    self.position = position
    self.changes = changes
    self.guarded = guarded
  }
}

/// A row that was put, changed or removed.
public struct JournalRow: Sendable, Hashable {
  /// What became of a row.
  public enum Operation: Sendable, Hashable {
    case inserted, updated, removed
  }

  /// A value of a column.
  public enum Value: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
  }

  /// Tables of which the journal is told each row: what pays, and what proves that it was paid.
  public static let guardedTables = ["execution", "ledger_entry"]

  /// The table's name in `schema.sql`.
  public let table: String
  /// See ``Operation``.
  public let operation: Operation
  /// The columns of the primary key; empty for a row that was inserted.
  public let key: [String: Value]
  /// The columns as they are now; of a row that was updated those that changed.
  public let values: [String: Value]

  public init(table: String, operation: Operation, key: [String: Value], values: [String: Value]) {
    self.table = table
    self.operation = operation
    self.key = key
    self.values = values
  }
}
