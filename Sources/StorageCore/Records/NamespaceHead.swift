/// Where a namespace stands: what the next commit and the next ledger entry follow on.
public struct NamespaceHead: Sendable, Hashable {
  /// The last commit's revision.
  public var revision: Revision
  /// The last commit's time, in milliseconds since 1970.
  public var time: Int64
  /// The last commit's hash; ``genesisHash`` before the first.
  public var commitHash: [UInt8]
  /// The last ledger entry's sequence; 0 before the first.
  public var entrySequence: Int64
  /// The last ledger entry's hash; ``genesisHash`` before the first.
  public var entryHash: [UInt8]

  /// 32 zero bytes: what the first record of a chain follows on.
  public static let genesisHash = [UInt8](repeating: 0, count: 32)

  public init(
    revision: Revision = .zero, time: Int64 = 0, commitHash: [UInt8] = Self.genesisHash, entrySequence: Int64 = 0,
    entryHash: [UInt8] = Self.genesisHash
  ) {
    self.revision = revision
    self.time = time
    self.commitHash = commitHash
    self.entrySequence = entrySequence
    self.entryHash = entryHash
  }
}
