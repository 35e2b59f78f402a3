public import TreeModel

/// A stored leaf or priority, with the revision of its last change.
public struct StoredLeaf: Sendable, Hashable {
  public let leaf: Leaf
  /// The commit that wrote it last.
  public let revision: Revision

  public init(leaf: Leaf, revision: Revision) {
    self.leaf = leaf
    self.revision = revision
  }
}
