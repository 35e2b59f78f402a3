/// A namespace: one tree with its log, its ledger and everything else that has a name.
public struct NamespaceRecord: Sendable, Hashable {
  public let id: NamespaceID
  public let name: String
  /// Milliseconds since 1970.
  public let createdAt: Int64

  public init(id: NamespaceID, name: String, createdAt: Int64) {
    self.id = id
    self.name = name
    self.createdAt = createdAt
  }
}

/// The number that a namespace's rows carry. A namespace's name is looked up once, by the surface.
public struct NamespaceID: RawRepresentable, Sendable, Hashable {
  public let rawValue: Int64

  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }
}

/// The name of a namespace: what clients put into `ns`, or into the first label of the host's name.
public enum NamespaceName {
  /// The longest name, in bytes; the letters allowed take one each.
  public static let lengthMax = 64

  /// Whether a namespace may have this name: letters, digits and hyphens, as in a host's label.
  public static func isLegal(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { utf8 in
      !utf8.isEmpty && utf8.count <= lengthMax
        && utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 }
    }
  }
}

/// The head of a namespace: what the next commit and the next ledger entry follow on.
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
