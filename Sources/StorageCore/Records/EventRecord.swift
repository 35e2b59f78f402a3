/// A change at a path that some registered function's pattern matched when it was committed.
///
/// Before and after are not stored: they come from the commit record and the tree as of the revision.
public struct EventRecord: Sendable, Hashable {
  /// What happened at the matched path (spec: triggers-ledger §1.1).
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case created
    case updated
    case deleted
  }

  /// Whose log it belongs to.
  public let namespace: NamespaceID
  public let id: EventID
  /// What happened at the matched path.
  public let kind: Kind
  /// How many functions stand between the first write and this event: 0 for a client's write.
  public let hop: Int

  public init(namespace: NamespaceID, id: EventID, kind: Kind, hop: Int) {
    self.namespace = namespace
    self.id = id
    self.kind = kind
    self.hop = hop
  }
}
