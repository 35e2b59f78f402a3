public import TreeModel

/// Decides from the values alone whether a change concerns a function; what it turns down makes no run at all.
///
/// Filters see leaves: where a map stands, before or after, they are given nil.
public struct ChangeFilter: Sendable, CustomStringConvertible {
  /// A change that a filter admits.
  public struct Example: Sendable, Hashable {
    /// What stands there first.
    public let before: Scalar
    /// What stands there then.
    public let after: Scalar

    public init(before: Scalar, after: Scalar) {
      self.before = before
      self.after = after
    }
  }

  let admits: @Sendable (_ before: Scalar?, _ after: Scalar?) -> Bool
  public let description: String
  /// How the sentence "It runs on an update" goes on: ` from 4 to 5`, ` rising to 5`; empty if every change is admitted.
  public let words: String
  /// A change that is admitted, where the rule itself names one: what a person would write to make the function run.
  public let example: Example?

  /// Every change.
  public static let any = ChangeFilter(description: "any change", words: "") { _, _ in true }

  /// Exactly this change; 5 and 5.0 are the same number.
  public static func changed(from before: Scalar, to after: Scalar) -> ChangeFilter {
    let rule = "from \(text(before)) to \(text(after))"
    return ChangeFilter(description: rule, words: " \(rule)", example: Example(before: before, after: after)) {
      $0 == before && $1 == after
    }
  }

  /// A number that was below `threshold` and is not any more.
  public static func rising(to threshold: Int64) -> ChangeFilter {
    let example = threshold == .min ? nil : Example(before: .int(threshold - 1), after: .int(threshold))
    return ChangeFilter(description: "rising to \(threshold)", words: " rising to \(threshold)", example: example) {
      before, after in
      guard let before = before?.doubleValue, let after = after?.doubleValue else { return false }
      return before < Double(threshold) && after >= Double(threshold)
    }
  }

  /// A filter of the author's own. It must be pure: it is asked on the path of every write.
  ///
  /// - Parameter description: the rule in words that can follow "when": `the level doubled`.
  public static func when(
    _ description: String, _ admits: @escaping @Sendable (_ before: Scalar?, _ after: Scalar?) -> Bool
  ) -> ChangeFilter {
    ChangeFilter(description: description, words: ", when \(description)", admits: admits)
  }

  private init(
    description: String, words: String, example: Example? = nil, admits: @escaping @Sendable (Scalar?, Scalar?) -> Bool
  ) {
    self.description = description
    self.words = words
    self.example = example
    self.admits = admits
  }

  /// Whether the function wants to see this change.
  public func callAsFunction(before: Scalar?, after: Scalar?) -> Bool { admits(before, after) }

  /// A value as its author wrote it.
  private static func text(_ scalar: Scalar) -> String {
    String(decoding: TreeNode.leaf(scalar).json(.plain), as: UTF8.self)
  }
}
