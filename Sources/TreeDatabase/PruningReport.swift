public import StorageCore

/// What a pruning did, or would do.
public struct PruningReport: Sendable, Hashable {
  /// Up to here it was asked for.
  public let requested: Revision
  /// Up to here the log was pruned before.
  public let before: Revision
  /// Up to here it is pruned now; what was asked for, unless something holds it back.
  public let through: Revision
  /// What holds it back, in a sentence; nil if nothing does.
  public let heldBack: String?
  /// The checkpoint that was written; nil if there was nothing to prune, or nothing was to be written.
  public let checkpoint: CheckpointRecord?
}
