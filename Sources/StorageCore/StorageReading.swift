public import RewardModel
public import TreeModel

/// What can be looked up both in a snapshot and by the writer, who sees its own batch so far.
///
/// Everything is synchronous: nothing that holds one of these waits for anything but the disk.
public protocol StorageReading {
  /// The leaves and priorities of the subtree at `path`, in path order, at most `limit`.
  func leaves(in namespace: NamespaceID, under path: PathBytes, limit: Int) throws(StorageError) -> [StoredLeaf]
  /// The leaves and priorities from `lower` up to but without `upper`, in path order, at most `limit`.
  func leaves(in namespace: NamespaceID, from lower: PathBytes, to upper: PathBytes, limit: Int) throws(StorageError)
    -> [StoredLeaf]
  /// The leaf (or the priority) that is stored at exactly `path`.
  func leaf(in namespace: NamespaceID, at path: PathBytes) throws(StorageError) -> StoredLeaf?
  /// The last stored leaf or priority before `path`. No leaf lies between a leaf and what stands below it, so this finds
  /// the leaf that a write below it replaces.
  func leaf(in namespace: NamespaceID, before path: PathBytes) throws(StorageError) -> StoredLeaf?

  func commit(in namespace: NamespaceID, at revision: Revision) throws(StorageError) -> CommitRecord?
  func execution(in namespace: NamespaceID, of event: EventID, by function: String) throws(StorageError) -> ExecutionRecord?
  func delivery(in namespace: NamespaceID, of event: EventID, to function: String) throws(StorageError) -> DeliveryRecord?

  /// The entry that was made under a business key.
  func entry(in namespace: NamespaceID, key: BusinessKey) throws(StorageError) -> LedgerEntry?
  func entry(in namespace: NamespaceID, sequence: Int64) throws(StorageError) -> LedgerEntry?
  /// The entry that reverses the given one.
  func reversal(in namespace: NamespaceID, of sequence: Int64) throws(StorageError) -> LedgerEntry?
  /// The balance of an account that the ledger alone keeps (not a currency holder's); nil if it has no entry.
  func balance(in namespace: NamespaceID, of account: LedgerAccount, unit: String) throws(StorageError) -> Int64?

  func rules(of namespace: NamespaceID) throws(StorageError) -> RulesRecord?
  /// The indexes of a namespace, by number.
  func indexes(in namespace: NamespaceID) throws(StorageError) -> [IndexRecord]

  func outbox(in namespace: NamespaceID, key: String) throws(StorageError) -> OutboxRecord?
  func idempotency(in namespace: NamespaceID, key: String) throws(StorageError) -> IdempotencyRecord?
  /// The value of a room's record; nil if there is none.
  func record(in namespace: NamespaceID, kind: String, key: String) throws(StorageError) -> String?
  func head(of namespace: NamespaceID) throws(StorageError) -> NamespaceHead
}
