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
