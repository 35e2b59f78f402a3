public import TreeModel

/// One place that an operation writes, with its server values filled in.
public struct RuleWrite: Sendable {
  /// What the place gets.
  public enum Value: Sendable {
    /// The whole node; absent where it is deleted.
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

  public init(path: Path, value: Value) {
    self.path = path
    place = PathBytes(path)
    self.value = value
  }
}
