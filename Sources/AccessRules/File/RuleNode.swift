public import TreeModel

/// The rules of one place in the tree, and of the places below it.
public final class RuleNode: Sendable {
  /// Where the node stands.
  public let pattern: RulePattern
  /// Who may read; nil if the node says nothing.
  public let read: RuleExpression?
  /// Who may write; nil if the node says nothing.
  public let write: RuleExpression?
  /// What may be written; nil if the node says nothing.
  public let validate: RuleExpression?
  /// The orders that the node's children are indexed by.
  public let indexOn: [NodeOrder]
  /// The rules of children that are named.
  public let children: [Key: RuleNode]
  /// The rules of every other child; the name of the variable is the last one of its pattern.
  public let wildcard: RuleNode?
  /// Whether a node below says what may be written there.
  let validatesBelow: Bool

  init(
    pattern: RulePattern, expressions: (read: RuleExpression?, write: RuleExpression?, validate: RuleExpression?),
    indexOn: [NodeOrder], children: [Key: RuleNode], wildcard: RuleNode?
  ) {
    self.pattern = pattern
    read = expressions.read
    write = expressions.write
    validate = expressions.validate
    self.indexOn = indexOn
    self.children = children
    self.wildcard = wildcard
    let below = Array(children.values) + [wildcard].compactMap(\.self)
    validatesBelow = below.contains { $0.validate != nil || $0.validatesBelow }
  }

  /// The rules of a child: a named one wins over the variable (spec: rtdb-protocol §4.1).
  public func child(_ key: Key) -> RuleNode? {
    children[key] ?? wildcard
  }

  /// Whether the condition holds here or somewhere below.
  func contains(where condition: (RuleNode) -> Bool) -> Bool {
    condition(self) || children.values.contains { $0.contains(where: condition) }
      || wildcard?.contains(where: condition) == true
  }
}
