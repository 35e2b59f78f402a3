public import TreeModel

/// The tree as rules look at it: one node at a time, and only those that a rule asks for.
///
/// Without a write both sides are the same.
public protocol RuleTree {
  /// What is at a path, without what lies below it.
  func read(at pathBytes: PathBytes, side: RuleSide) throws(RuleTreeError) -> RuleRead
  /// The priority of the node at a place; nil if it has none.
  func priority(at pathBytes: PathBytes, side: RuleSide) throws(RuleTreeError) -> Scalar?
}

/// What is at a path.
public enum RuleRead: Sendable, Hashable {
  case absent
  case leaf(Scalar)
  /// It has children.
  case map
}

/// The tree could not be looked at: nothing was evaluated.
public struct RuleTreeError: Error, Sendable, CustomStringConvertible {
  /// What happened, and what to do.
  public let message: String

  public init(_ message: String) {
    self.message = message
  }

  public var description: String { message }
}

/// Which of the two trees that a write stands between.
public enum RuleSide: Sendable, Hashable {
  /// As it is: `data` and `root`.
  case before
  /// As the whole operation would make it: `newData`.
  case after
}

/// One place that an operation writes.
public struct RuleWrite: Sendable {
  /// What the place gets.
  public enum Value: Sendable {
    /// The whole node; absent where it is deleted. Only which places it has counts here: rules look at values in the tree.
    case node(TreeNode)
    /// Only its priority. It is evaluated as a write of the node, of which nothing below has changed.
    case priority
  }

  /// The place; of a priority, that of its node.
  public let path: Path
  /// The same as storage has it.
  public let pathBytes: PathBytes
  /// What it gets.
  public let value: Value

  /// A write of what is at `path` once it is allowed.
  public init(path: Path, value: Value) {
    self.init(path: path, pathBytes: PathBytes(path), value: value)
  }

  /// As above, where the place is known as storage has it.
  public init(path: Path, pathBytes: PathBytes, value: Value) {
    self.path = path
    self.pathBytes = pathBytes
    self.value = value
  }
}
