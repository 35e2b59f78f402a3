public import StorageCore

/// What was found in the log of one namespace.
public struct LogReport: Sendable, Hashable {
  /// A record that is not what it should be.
  public struct Fault: Sendable, Hashable {
    /// The commit it is about; nil where it is about another record.
    public let revision: Revision?
    /// What is wrong, in a sentence.
    public let message: String
  }

  /// Commits that were read.
  public internal(set) var commits: Int64 = 0
  /// Those whose changes were pruned: their digests stand for them.
  public internal(set) var forgotten: Int64 = 0
  /// Those of which a part was erased for players who left.
  public internal(set) var erased: Int64 = 0
  /// Erasures that are not sealed: they are under way, or were cut off and go on when they are ordered again.
  public internal(set) var unsealed: [Revision] = []
  /// Ledger entries whose links were followed.
  public internal(set) var entries: Int64 = 0
  /// Executions whose links were followed.
  public internal(set) var executions: Int64 = 0
  /// Up to here the log was pruned.
  public internal(set) var pruned = Revision.zero
  /// The hash of the last commit.
  public internal(set) var lastHash = NamespaceHead.genesisHash
  /// The first faults, in the order of the log.
  public internal(set) var faults: [Fault] = []
  /// How many there are altogether.
  public internal(set) var faultCount = 0

  /// Faults that are kept.
  static let faultsMax = 100

  /// Whether every record is what was written, and linked with the others as it should be.
  public var isSound: Bool { faultCount == 0 }

  mutating func note(_ revision: Revision?, _ message: String) {
    faultCount += 1
    if faults.count < Self.faultsMax { faults.append(Fault(revision: revision, message: message)) }
  }
}
