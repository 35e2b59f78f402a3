public import RewardModel

/// How a hold ended.
public struct HoldEnding: Sendable, Hashable {
  /// The entry that ended it: to the receiver of a release, or back to where the coins came from.
  public let entry: LedgerEntry
  /// The entry that gave back what a release left over; nil if nothing was.
  public let rest: LedgerEntry?
  /// Whether the hold had ended the same way before; this request changed nothing.
  public let isRepeated: Bool

  /// An ending.
  public init(entry: LedgerEntry, rest: LedgerEntry?, isRepeated: Bool) {
    self.entry = entry
    self.rest = rest
    self.isRepeated = isRepeated
  }
}
