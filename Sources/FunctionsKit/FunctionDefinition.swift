public import TreeModel

/// A registered function: which events it wants, and how it is run. For the engine.
public struct FunctionDefinition: Sendable {
  /// Which changes at the pattern make an event for the function (spec: triggers-ledger §1.1).
  public enum Trigger: String, Sendable, Hashable {
    case onCreate
    case onUpdate
    case onDelete
    case onWrite
  }

  /// One run's input.
  public struct Run: Sendable {
    public let details: EventDetails
    /// What the pattern's captures matched, in its order.
    public let captures: [String]
    public let before: TreeNode
    public let after: TreeNode

    public init(details: EventDetails, captures: [String], before: TreeNode, after: TreeNode) {
      self.details = details
      self.captures = captures
      self.before = before
      self.after = after
    }
  }

  public let name: String
  public let trigger: Trigger
  public let pattern: PathPattern
  public let filter: ChangeFilter
  public let options: FunctionOptions
  /// The settings with their values, as a tree; absent if the function has none.
  public let settings: TreeNode
  public let body: @Sendable (Run, FunctionContext) async throws -> Outcome
}
