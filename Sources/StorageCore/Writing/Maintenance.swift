public import TreeModel

/// Rows of the administrators' work, which ride in a commit like everything else: all of it, or nothing.
public struct Maintenance: Sendable {
  /// One step of pruning.
  public enum Pruning: Sendable, Hashable {
    /// Removes what an earlier, unfinished or replaced checkpoint of another revision left.
    case clearLeaves(keeping: Revision)
    /// Forgets the changes of the commits up to and including this one, which were made after the first.
    case forgetChanges(after: Revision, through: Revision)
    /// Removes history that only reads before this revision need.
    case forgetHistory(through: Revision)
  }

  /// One step of the erasure of a player. What the commit that carries it removes is overwritten in the file.
  public enum Erasing: Sendable, Hashable {
    /// Nothing more: the commit's other rows are the step.
    case rows
    /// Codes that were mailed for an account or to its addresses, and what its sessions carry.
    case account(uid: String, addresses: [String])
    /// Takes what lies below some places out of the payloads of commits.
    case changes(of: [Revision], below: [PathBytes], order: Revision)
    /// Takes what lies below a place out of the history up to a revision, with the words of attempts that failed and of
    /// invocations there.
    case past(below: PathBytes, through: Revision)
    /// Replaces the kept answers to the requests of some commits; revision 0 stands for requests that changed nothing.
    case answers(to: [Revision], by: [UInt8])
    /// Takes what lies below some places out of the checkpoint of a revision, which has this hash and so many leaves then.
    case checkpoint(Revision, below: [PathBytes], treeHash: [UInt8], leafCount: Int64)
  }

  /// Events that were derived from the log, where the table does not have them.
  public var events: [EventRecord] = []
  /// A replay's new state; replaces the record of its id.
  public var replay: ReplayRecord?
  /// What the replay gives to the functions with this commit.
  public var replayItems: (replay: Int64, items: [ReplayItem])?
  /// A function that was run by hand.
  public var invocation: InvocationRecord?
  /// An attempt that failed.
  public var failedAttempt: FailedAttempt?
  /// A part of the tree of a checkpoint that is being written.
  public var checkpointLeaves: (revision: Revision, leaves: [Leaf])?
  /// A finished checkpoint; the log counts as pruned from now on.
  public var checkpoint: CheckpointRecord?
  /// Service accounts that were made or revoked; each replaces the record of its key.
  public var serviceAccounts: [ServiceAccountRecord] = []
  /// What is pruned.
  public var pruning: Pruning?
  /// What is erased.
  public var erasing: Erasing?
  /// What is added to the counts of links.
  public var linkCounts: [LinkCount] = []

  public init() {}
}

/// What a snapshot knows of the administrators' work: replays, invocations, checkpoints.
///
/// Listings are bounded, as in ``Snapshot``.
public protocol MaintenanceReading {
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

/// Where the log of a namespace was pruned: what a rebuild begins with, and what the rest of the chain follows on.
public struct CheckpointRecord: Sendable, Hashable {
  /// The last pruned revision: the checkpoint's tree is the tree after it.
  public let revision: Revision
  /// The time of that commit, in milliseconds since 1970.
  public let commitTime: Int64
  /// The hash of that commit.
  public let commitHash: [UInt8]
  /// SHA-256 over the leaves, by ``TreeHash``.
  public let treeHash: [UInt8]
  /// How many leaves the tree has.
  public let leafCount: Int64
  /// Who pruned.
  public let actor: Actor
  /// Why.
  public let reason: String
  /// Milliseconds since 1970.
  public let createdAt: Int64

  public init(
    revision: Revision, commitTime: Int64, commitHash: [UInt8], treeHash: [UInt8], leafCount: Int64, actor: Actor,
    reason: String, createdAt: Int64
  ) {
    self.revision = revision
    self.commitTime = commitTime
    self.commitHash = commitHash
    self.treeHash = treeHash
    self.leafCount = leafCount
    self.actor = actor
    self.reason = reason
    self.createdAt = createdAt
  }
}

/// How often something happened to a link on one day.
public struct LinkCount: Sendable, Hashable {
  /// The link: prefix and suffix, without `https://`.
  public let link: String
  /// Days since 1970, in UTC.
  public let day: Int64
  /// `ANDROID`, `IOS`, `DESKTOP`, `OTHER`.
  public let platform: String
  /// `CLICK`, `REDIRECT`, `APP_FIRST_OPEN`, …
  public let event: String
  /// How often; when it is put, how much more often.
  public let count: Int64

  public init(link: String, day: Int64, platform: String, event: String, count: Int64) {
    self.link = link
    self.day = day
    self.platform = platform
    self.event = event
    self.count = count
  }
}
