public import StorageCore

/// What came of building a store anew from the recorded commits.
public struct RebuildReport: Sendable, Hashable {
  /// The last revision.
  public internal(set) var through = Revision.zero
  /// The checkpoint that was begun with; zero if with the empty tree.
  public internal(set) var checkpoint = Revision.zero
  /// Commits that were applied.
  public internal(set) var commits: Int64 = 0
  /// Ledger entries that were posted again.
  public internal(set) var entries: Int64 = 0
  /// Executions that were taken over.
  public internal(set) var executions: Int64 = 0
  /// The canonical hash of the store (``StorageCore/CanonicalHash``).
  public internal(set) var recorded: [UInt8] = []
  /// The canonical hash of what was built.
  public internal(set) var rebuilt: [UInt8] = []
  /// The first records that could not be applied as they are.
  public internal(set) var faults: [LogReport.Fault] = []
  /// How many there are altogether.
  public internal(set) var faultCount = 0

  /// Whether what was built is the same as the store.
  public var isEqual: Bool { faultCount == 0 && recorded == rebuilt }

  mutating func note(_ revision: Revision?, _ message: String) {
    faultCount += 1
    if faults.count < LogReport.faultsMax { faults.append(LogReport.Fault(revision: revision, message: message)) }
  }
}
