public import TreeModel

/// What a snapshot knows of the administrators' work: replays, invocations, checkpoints.
///
/// Listings are bounded, as in ``Snapshot``.
public protocol UpkeepReading {
  /// Executions by event and function, after the one given.
  func executions(in namespace: NamespaceID, after last: ReplayItem?, limit: Int) throws(StorageError) -> [ExecutionRecord]
  /// The first revision that a delivery needs: of an event that waits, is kept or is a dead letter. Nil if there is none.
  func firstDeliveryRevision(in namespace: NamespaceID) throws(StorageError) -> Revision?
  /// The attempts at an event that failed, of every function, oldest first.
  func failedAttempts(in namespace: NamespaceID, of event: EventID, limit: Int) throws(StorageError) -> [FailedAttempt]

  func replay(in namespace: NamespaceID, id: Int64) throws(StorageError) -> ReplayRecord?
  /// Newest first, before `id` (nil: from the last).
  func replays(in namespace: NamespaceID, before id: Int64?, limit: Int) throws(StorageError) -> [ReplayRecord]
  /// In the order of the events, after the one given.
  func replayItems(in namespace: NamespaceID, of replay: Int64, after last: ReplayItem?, limit: Int) throws(StorageError)
    -> [ReplayItem]
  /// Newest first, before `id` (nil: from the last).
  func invocations(in namespace: NamespaceID, before id: Int64?, limit: Int) throws(StorageError) -> [InvocationRecord]

  /// All service accounts, revoked ones too, oldest first.
  func serviceAccounts() throws(StorageError) -> [ServiceAccountRecord]

  /// The leaves of the whole tree as they were after the commit of `revision`, in path order, after the path given.
  func leaves(in namespace: NamespaceID, after path: PathBytes?, asOf revision: Revision, limit: Int) throws(StorageError)
    -> [StoredLeaf]
  /// Up to here the past was pruned: its changes and its trees are no longer there.
  func prunedRevision(of namespace: NamespaceID) throws(StorageError) -> Revision
  /// The last checkpoint; nil if the log was never pruned.
  func checkpoint(of namespace: NamespaceID) throws(StorageError) -> CheckpointRecord?
  /// The leaves of the last checkpoint, in path order, after the path given.
  func checkpointLeaves(in namespace: NamespaceID, of revision: Revision, after path: PathBytes?, limit: Int)
    throws(StorageError) -> [Leaf]
}
