package import StorageCore
package import TreeModel

/// A function to run by hand.
package struct InvocationOrder: Sendable {
  /// Which function.
  package let function: String
  /// Where the event would have happened.
  package let path: Path
  /// What stood there.
  package let before: TreeNode
  /// What stands there now.
  package let after: TreeNode
  /// Who is to have written.
  package let actingAs: Actor
  /// Why.
  package let reason: String
}
