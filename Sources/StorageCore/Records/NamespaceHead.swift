/// Where a namespace stands: what the next commit and the next ledger entry follow on.
public struct NamespaceHead: Sendable, Hashable {
  public var revision: Revision
  /// The last commit's time, in milliseconds since 1970.
  public var time: Int64
  public var commitHash: [UInt8]
  public var entrySequence: Int64
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
