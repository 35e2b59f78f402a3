public import StorageCore
public import TreeModel

/// A function to run by hand.
public struct InvocationOrder: Sendable {
  /// Which function.
  public let function: String
  /// Where the event would have happened.
  public let path: Path
  /// What stood there.
  public let before: TreeNode
  /// What stands there now.
  public let after: TreeNode
  /// Who is to have written.
  public let actingAs: Actor
  /// Why.
  public let reason: String
}
