public import RewardModel
public import TreeModel

/// What a batch puts into the tree.
public protocol TreeStaging {
  /// How many paths of the tree the batch holds in memory, those among them that were taken back.
  var pendingLeaves: Int { get }
  /// Stores a leaf or priority; nil removes it.
  func setLeaf(_ scalar: Scalar?, at path: PathBytes, revision: Revision, in namespace: NamespaceID)
}

/// What a batch puts into rules and indexes.
public protocol IndexStaging {
  func put(_ record: RulesRecord, in namespace: NamespaceID)
  func put(_ record: IndexRecord, in namespace: NamespaceID)
  func removeIndex(_ id: IndexID, in namespace: NamespaceID)
  /// Gives a child its entry in an index, or removes it. Either may be the case already.
  func setIndexEntry(
    _ entry: IndexEntry, isTaken: Bool, below parent: PathBytes, of index: IndexID, in namespace: NamespaceID)
  /// Removes some entries of an index that were written before this batch.
  func removeIndexEntries(of index: IndexID, in namespace: NamespaceID, limit: Int)
  /// Whether an index has entries, so that something is left to remove.
  func hasIndexEntries(of index: IndexID, in namespace: NamespaceID) throws(StorageError) -> Bool
}

/// What a batch puts into the logs.
public protocol LogStaging {
  var epoch: Int64 { get }
  func setHead(_ head: NamespaceHead, of namespace: NamespaceID)
  func append(_ commit: CommitRecord)
  func append(_ event: EventRecord)
  func append(_ record: AuditRecord)
}

/// What a batch says of functions and their work.
public protocol FunctionStaging {
  func put(_ record: FunctionRecord)
  func put(_ execution: ExecutionRecord, in namespace: NamespaceID)
  func put(_ delivery: DeliveryRecord, in namespace: NamespaceID)
  func removeDelivery(of event: EventID, to function: String, in namespace: NamespaceID)
  func setSettledRevision(_ revision: Revision, of namespace: NamespaceID)
}

/// What a batch puts into the ledger.
public protocol LedgerStaging {
  func append(_ entry: LedgerEntry, in namespace: NamespaceID)
  func setBalance(_ balance: Int64, of account: LedgerAccount, unit: String, in namespace: NamespaceID)
}

/// What a batch puts into the tables of accounts.
public protocol AccountStaging {
  /// Stores a row about accounts; replaces the row of its key.
  func put(_ row: AccountRow, in namespace: NamespaceID)
  /// Removes a row about accounts. With the revocation of an account that is gone go its refresh tokens: until then a client
  /// that comes back is told what happened.
  func removeAccountRow(_ key: AccountRow.Key, in namespace: NamespaceID)
}

/// What a batch puts beside the tree and the ledger.
public protocol RecordStaging {
  func put(_ record: OutboxRecord, in namespace: NamespaceID)
  func put(_ record: IdempotencyRecord, in namespace: NamespaceID)
  /// Puts or removes a keyed record; what is expected of it was checked before.
  func put(_ change: KeyedRecordChange, in namespace: NamespaceID)
  /// Rows of the administrators' work.
  func put(_ maintenance: Maintenance, in namespace: NamespaceID)
}

/// The store as one request on the writer sees and changes it: what participants and decisions get.
///
/// Reads see the batch so far. Everything that is put is buffered, and taken back if the request is refused.
public protocol CommitSession: StorageReading, AccountReading, TreeStaging, IndexStaging, LogStaging, FunctionStaging,
  LedgerStaging, AccountStaging, RecordStaging, AnyObject
{}

/// The one writer's hold on the store: many operations, one transaction, one fsync.
///
/// Held by exactly one thread. Everything that is put is buffered: ``rollback(to:)`` takes one operation back without touching
/// the file, and ``commit()`` writes the rows of the whole batch in key order. On PostgreSQL the holder of an advisory lock
/// plays this part; the batch's paths are prefetched in one read, and the same buffer becomes a few `unnest` statements.
public protocol WriteSession: CommitSession {
  /// The namespace of this name; created at `time` (milliseconds since 1970) if there is none, unless that is nil.
  func namespace(named name: String, creatingAt time: Int64?) throws(StorageError) -> NamespaceID?
  /// Forgets a namespace whole.
  func remove(_ namespace: NamespaceID)
  /// Forgets answers that nobody will ask for again.
  func removeIdempotency(expiredAt time: Int64)

  /// The position in the batch to come back to.
  func mark() -> WriteMark
  /// Takes back everything that was put since the mark.
  func rollback(to mark: WriteMark)
  /// Ends the batch: writes it to the log, in one transaction. Nothing of it may be told before ``flush()``.
  ///
  /// - Throws: after which the session refuses everything: what the disk holds is no longer known.
  func write() throws(StorageError)
  /// Makes durable what was written.
  ///
  /// The one member that another thread than the session's may call: while the session looks and puts, but not while it
  /// writes. So the next batch can be judged while the disk works on this one. (On PostgreSQL: `write` commits with
  /// `synchronous_commit = off`, and this waits for the server's log position.)
  /// - Throws: after which nothing can be written any more; an fsync that failed is never tried again.
  func flush() throws(StorageError)
  /// Gives back the memory in which the session keeps pieces of the store, between two batches: they are read again when they
  /// are needed.
  func releaseMemory()
}

extension WriteSession {
  /// Makes the batch durable: writes and flushes it.
  public func commit() throws(StorageError) {
    try write()
    try flush()
  }
}

/// A place in a batch.
public struct WriteMark: Sendable, Hashable {
  /// How much the batch held when the mark was set; means something to its session only.
  public let position: Int

  public init(position: Int) {
    self.position = position
  }
}
