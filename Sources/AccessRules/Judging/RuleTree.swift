public import TreeModel

/// The tree as rules look at it: one node at a time, and only those that a rule asks for.
///
/// Without a write both sides are the same.
public protocol RuleTree {
  /// What stands at a place, without what lies below it.
  func glance(at place: PathBytes, _ side: RuleSide) throws(RuleTreeFault) -> RuleGlance
  /// The priority of the node at a place; nil if it has none.
  func priority(at place: PathBytes, _ side: RuleSide) throws(RuleTreeFault) -> Scalar?
}

/// What stands at a place.
public enum RuleGlance: Sendable, Hashable {
  case absent
  case leaf(Scalar)
  /// It has children.
  case map
}

/// The tree could not be looked at: nothing was judged.
public struct RuleTreeFault: Error, Sendable, CustomStringConvertible {
  /// What happened, and what to do.
  public let message: String

  public init(_ message: String) {
    self.message = message
  }

  public var description: String { message }
}
