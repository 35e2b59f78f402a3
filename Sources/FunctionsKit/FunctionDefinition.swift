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
    /// When, where and by whom.
    public let details: EventDetails
    /// What the pattern's captures matched, in its order.
    public let captures: [String]
    /// The node at the event's path before the commit; absent for a creation.
    public let before: TreeNode
    /// The node at the event's path after the commit; absent for a deletion.
    public let after: TreeNode

    public init(details: EventDetails, captures: [String], before: TreeNode, after: TreeNode) {
      self.details = details
      self.captures = captures
      self.before = before
      self.after = after
    }
  }

  /// What could be written to make the function run, for examples.
  public struct Sample: Sendable {
    /// A place that the pattern matches.
    public let path: Path
    /// A value of the place's type.
    public let value: TreeNode
    /// Another one.
    public let otherValue: TreeNode
  }

  public let name: String
  /// Which kinds of change it wants.
  public let trigger: Trigger
  /// Where it wants them.
  public let pattern: PathPattern
  /// The captures of the pattern that are players: those typed ``UserID``.
  public let players: Set<String>
  /// A place that the pattern matches, with values of its type; nil where none can be made up.
  public let sample: @Sendable () -> Sample?
  /// What it turns down without a run.
  public let filter: ChangeFilter
  /// Deadline, order, retries and former names.
  public let options: FunctionOptions
  /// The settings with their values, as a tree; absent if the function has none.
  public let settings: TreeNode
  /// What its payments must meet to be made at once, with the configuration's overrides; nil if it declares nothing.
  public let limits: RewardLimits?
  /// Decodes the run's input and calls the author's closure. Input of another type is skipped as `type_mismatch`: trying
  /// again would not change it.
  public let body: @Sendable (Run, FunctionContext) async throws -> Outcome
}
