public import RewardModel
public import TreeModel

/// The store as it is at one moment, for one synchronous look; any number of threads may have one.
///
/// Listings are in the order of their log and bounded: `limit` rows after (or, newest first, before) a position.
public protocol Snapshot: StorageReading, UpkeepReading, AccountListing, RoomReading {
  var epoch: Int64 { get }
  func namespaces() throws(StorageError) -> [NamespaceRecord]

  /// The leaves and priorities from `lower` up to but without `upper`, in path order: at most `limit`, and none behind the one
  /// with which they are more than `bytesMax` bytes of paths and values.
  func leaves(in namespace: NamespaceID, from lower: PathBytes, to upper: PathBytes, limit: Int, bytesMax: Int)
    throws(StorageError) -> [StoredLeaf]

  /// The leaves of a subtree as they were after the commit of `revision`.
  ///
  /// Undoes the later changes: those of recent commits from memory, older ones from the history.
  /// - Throws: ``StorageError/Code/unreadable`` if the log was pruned after that revision.
  func leaves(in namespace: NamespaceID, under path: PathBytes, asOf revision: Revision, limit: Int) throws(StorageError)
    -> [StoredLeaf]
  /// The commits that changed something at or below a path, newest first: those before `revision` (nil: all), at most
  /// `limit`. Looks at a bounded number of rows, and says how far it came.
  func touches(in namespace: NamespaceID, under path: PathBytes, before revision: Revision?, limit: Int) throws(StorageError)
    -> PathTouches
  /// The state of the tree at a moment: the last commit that is not later. Before what the log still holds it is the
  /// revision before the log's first.
  func revision(in namespace: NamespaceID, at time: Int64) throws(StorageError) -> Revision
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

  func index(in namespace: NamespaceID, id: IndexID) throws(StorageError) -> IndexRecord?
  /// The places that an index has for the children of one node, from `lower` up to but without `upper`, first to last or last
  /// to first, at most `limit`.
  func places(
    in namespace: NamespaceID, of index: IndexID, below parent: PathBytes, from lower: IndexPlace, to upper: IndexPlace,
    isDescending: Bool, limit: Int
  ) throws(StorageError) -> [IndexPlace]

  func outbox(in namespace: NamespaceID, state: OutboxRecord.State, after key: String?, limit: Int) throws(StorageError)
    -> [OutboxRecord]
  func functions() throws(StorageError) -> [FunctionRecord]
  /// Newest first, with their places in the log, before the one given; nil begins at the end.
  func audits(before place: Int64?, limit: Int) throws(StorageError) -> [(place: Int64, record: AuditRecord)]
}
