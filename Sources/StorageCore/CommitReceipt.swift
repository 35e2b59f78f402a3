public import RewardModel
public import TreeModel

/// What became of a request that was accepted and is durable.
public struct CommitReceipt: Sendable {
  /// The tree's revision: the commit's, or the one before if nothing changed.
  public let revision: Revision
  /// Whether the tree changed, and so whether there is a commit record.
  public let changed: Bool
  /// The operation's time, in milliseconds since 1970.
  public let time: Int64
  /// The node of each assignment of each operation, server values filled in; in the request's order.
  public let resolved: [TreeNode]
  /// The events that the commit caused.
  public let events: [EventRecord]
  /// The ledger entries that were made, adjustments included.
  public let entries: [LedgerEntry]
  /// The stored answer, if this request was a repetition; nothing else happened then.
  public let replayed: IdempotencyRecord?

  public init(
    revision: Revision, changed: Bool, time: Int64, resolved: [TreeNode] = [], events: [EventRecord] = [],
    entries: [LedgerEntry] = [], replayed: IdempotencyRecord? = nil
  ) {
    self.revision = revision
    self.changed = changed
    self.time = time
    self.resolved = resolved
    self.events = events
    self.entries = entries
    self.replayed = replayed
  }
}
