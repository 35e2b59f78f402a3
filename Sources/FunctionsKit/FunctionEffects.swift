public import TreeModel

/// What a run asks for, as data: committed as one operation together with the record that it ran.
///
/// For the engine; authors meet it only through ``FunctionContext``.
public struct FunctionEffects: Sendable {
  /// A movement of coins between the program and a balance in the tree.
  public struct Posting: Sendable {
    public enum Direction: Sendable {
      case credit
      case debit
    }

    public let direction: Direction
    /// The balance's place; it must be a declared currency's.
    public let path: Path
    public let amount: Int64
    public let code: String
    /// The business key; nil stands for `{event}/{function}/{code}`.
    public let key: String?
    public let subject: String?
    public let note: String?
  }

  /// A message for the outside.
  public struct Message: Sendable {
    public let outlet: String
    public let payload: TreeNode
    public let label: String
  }

  /// A value that must still stand when the effects are committed.
  public struct Assumption: Sendable {
    public let path: Path
    public let node: TreeNode
  }

  public internal(set) var operations: [WriteOperation] = []
  public internal(set) var postings: [Posting] = []
  public internal(set) var messages: [Message] = []
  public internal(set) var assumptions: [Assumption] = []

  public var isEmpty: Bool { operations.isEmpty && postings.isEmpty && messages.isEmpty }
}
