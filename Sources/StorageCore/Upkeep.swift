public import TreeModel

/// Rows of the administrators' work, which ride in a commit like everything else: all of it, or nothing.
public struct Upkeep: Sendable {
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
