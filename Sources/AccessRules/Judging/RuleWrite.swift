public import TreeModel

/// One place that an operation writes.
public struct RuleWrite: Sendable {
  /// What the place gets.
  public enum Value: Sendable {
    /// The whole node; absent where it is deleted. Only which places it has counts here: rules look at values in the tree.
    case node(TreeNode)
    /// Only its priority. It is judged as a write of the node, of which nothing below has changed.
    case priority
  }

  /// The place; of a priority, that of its node.
  public let path: Path
  /// The same as storage has it.
  public let place: PathBytes
  /// What it gets.
  public let value: Value

  /// A write of what stands at `path` once it is allowed.
  public init(path: Path, value: Value) {
    self.init(path: path, place: PathBytes(path), value: value)
  }

  /// As above, where the place is known as storage has it.
  public init(path: Path, place: PathBytes, value: Value) {
    self.path = path
    self.place = place
    self.value = value
  }
}
