public import RewardModel

/// What became of a transfer.
public struct PostedTransfer: Sendable, Hashable {
  /// Its entry.
  public let entry: LedgerEntry
  /// Whether the entry was made by an earlier request with the same key and body; this one changed nothing.
  public let isRepeated: Bool

  /// A posted transfer.
  public init(entry: LedgerEntry, isRepeated: Bool) {
    self.entry = entry
    self.isRepeated = isRepeated
  }
}
