public import RewardModel
public import TreeModel

/// The store as it is at one moment, for one synchronous look; any number of threads may have one.
///
/// Listings are in the order of their log and bounded: `limit` rows after (or, newest first, before) a position.
public protocol Snapshot: StorageReading, UpkeepReading {
  var epoch: Int64 { get }
  func namespaces() throws(StorageError) -> [NamespaceRecord]

  /// The leaves of a subtree as they were after the commit of `revision`.
  ///
  /// Undoes the later changes: those of recent commits from memory, older ones from the history.
  /// - Throws: ``StorageError/Code/unreadable`` if the log was pruned after that revision.
  func leaves(in namespace: NamespaceID, under path: PathBytes, asOf revision: Revision, limit: Int) throws(StorageError)
    -> [StoredLeaf]
  /// The children of a node by name, without reading what lies below them: one seek a child.
  func children(in namespace: NamespaceID, of path: PathBytes, after key: Key?, limit: Int) throws(StorageError) -> [Key]

  /// Up to this revision every event is settled or has a delivery record.
  func settledRevision(of namespace: NamespaceID) throws(StorageError) -> Revision
  func commits(in namespace: NamespaceID, after revision: Revision, limit: Int) throws(StorageError) -> [CommitRecord]
  /// Events after a position, oldest first; nil begins at the beginning. `revision` alone stands before its events.
  func events(in namespace: NamespaceID, after position: EventPosition?, limit: Int) throws(StorageError) -> [EventRecord]
  /// Events before a position, newest first; nil begins at the end.
  func events(in namespace: NamespaceID, before position: EventPosition?, limit: Int) throws(StorageError) -> [EventRecord]
  func event(in namespace: NamespaceID, id: EventID) throws(StorageError) -> EventRecord?
  func executions(in namespace: NamespaceID, of event: EventID) throws(StorageError) -> [ExecutionRecord]
  func deliveries(in namespace: NamespaceID, of event: EventID) throws(StorageError) -> [DeliveryRecord]
  /// Deliveries in one state, by function and event, after the one given.
  func deliveries(in namespace: NamespaceID, state: DeliveryRecord.State, after last: DeliveryRecord?, limit: Int)
    throws(StorageError) -> [DeliveryRecord]

  func entries(in namespace: NamespaceID, after sequence: Int64, limit: Int) throws(StorageError) -> [LedgerEntry]
  /// The entries of one account, newest first, before `sequence` (nil: from the last).
  func entries(in namespace: NamespaceID, account: LedgerAccount, before sequence: Int64?, limit: Int) throws(StorageError)
    -> [LedgerEntry]
  /// The accounts that the ledger alone keeps.
  func balances(in namespace: NamespaceID) throws(StorageError) -> [AccountBalance]

  func outbox(in namespace: NamespaceID, state: OutboxRecord.State, after key: String?, limit: Int) throws(StorageError)
    -> [OutboxRecord]
  func functions() throws(StorageError) -> [FunctionRecord]
  /// Newest first.
  func audits(limit: Int) throws(StorageError) -> [AuditRecord]
}
