public import TreeModel

/// The rules of one place in the tree, and of the places below it.
public final class RuleNode: Sendable {
  /// The text of a `.read`, `.write` or `.validate` rule; a boolean is the text `true` or `false`.
  public struct Expression: Sendable, Hashable {
    /// The expression, as it was written.
    public let text: String
    /// The place in the file where it begins, from 1.
    public let line: Int
    /// See ``line``.
    public let column: Int
  }

  /// Where the node stands.
  public let pattern: RulePattern
  /// Who may read; nil if the node says nothing.
  public let read: Expression?
  /// Who may write; nil if the node says nothing.
  public let write: Expression?
  /// What may be written; nil if the node says nothing.
  public let validate: Expression?
  /// The orders that the node's children are indexed by.
  public let indexOn: [NodeOrder]
  /// The rules of children that are named.
  public let children: [Key: RuleNode]
  /// The rules of every other child; the name of the variable is the last one of its pattern.
  public let wildcard: RuleNode?

  init(
    pattern: RulePattern, expressions: (read: Expression?, write: Expression?, validate: Expression?), indexOn: [NodeOrder],
    children: [Key: RuleNode], wildcard: RuleNode?
  ) {
    self.pattern = pattern
    read = expressions.read
    write = expressions.write
    validate = expressions.validate
    self.indexOn = indexOn
    self.children = children
    self.wildcard = wildcard
  }

  /// The rules of a child: a named one wins over the variable (spec: rtdb-protocol §4.1).
  public func child(_ key: Key) -> RuleNode? {
    children[key] ?? wildcard
  }
}
