/// One leaf (or one priority) before and after a commit; nil means that it is not there.
///
/// Every write is reduced to a list of these, sorted by path: what a commit records, what undoing it needs, and what
/// triggers and listeners compare.
public struct LeafChange: Sendable, Hashable {
  /// The place of the leaf or of the priority.
  public let path: PathBytes
  /// What stood there.
  public let before: Scalar?
  /// What stands there now.
  public let after: Scalar?

  /// A change of one leaf or priority.
  public init(path: PathBytes, before: Scalar?, after: Scalar?) {
    self.path = path
    self.before = before
    self.after = after
  }
}

/// A stored leaf or priority.
public struct Leaf: Sendable, Hashable {
  /// The place of the leaf or of the priority.
  public let path: PathBytes
  /// The value or the priority.
  public let scalar: Scalar

  /// A stored leaf or priority.
  public init(path: PathBytes, scalar: Scalar) {
    self.path = path
    self.scalar = scalar
  }

  /// Bytes of its path and value, about.
  public var bytes: Int { path.bytes.count + (scalar.stringValue?.utf8.count ?? 8) }
}
