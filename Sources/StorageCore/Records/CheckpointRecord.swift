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
