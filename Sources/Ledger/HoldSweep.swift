public import RewardModel

/// What a sweep over expired holds did.
public struct HoldSweep: Sendable {
  /// A hold that expired but could not be freed.
  public struct Failure: Sendable {
    /// The entry that made the hold.
    public let hold: LedgerEntry
    /// Why it stays for the next sweep.
    public let error: LedgerError

    /// A hold that stays.
    public init(hold: LedgerEntry, error: LedgerError) {
      self.hold = hold
      self.error = error
    }
  }

  /// The entries that gave the coins back.
  public var freed: [LedgerEntry] = []
  /// What could not be freed.
  public var failures: [Failure] = []

  /// A sweep that did nothing yet.
  public init() {}
}
