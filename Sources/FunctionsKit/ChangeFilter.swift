public import TreeModel

/// Decides from the values alone whether a change concerns a function; what it turns down makes no run at all.
///
/// Filters see leaves: where a map stands, before or after, they are given nil.
public struct ChangeFilter: Sendable, CustomStringConvertible {
  let admits: @Sendable (_ before: Scalar?, _ after: Scalar?) -> Bool
  public let description: String

  /// Every change.
  public static let any = ChangeFilter(description: "any change") { _, _ in true }

  /// Exactly this change; 5 and 5.0 are the same number.
  public static func changed(from before: Scalar, to after: Scalar) -> ChangeFilter {
    ChangeFilter(description: "from \(before) to \(after)") { $0 == before && $1 == after }
  }

  /// A number that was below `threshold` and is not any more.
  public static func rising(to threshold: Int64) -> ChangeFilter {
    ChangeFilter(description: "rising to \(threshold)") { before, after in
      guard let before = before?.doubleValue, let after = after?.doubleValue else { return false }
      return before < Double(threshold) && after >= Double(threshold)
    }
  }

  /// A filter of the author's own. It must be pure: it is asked on the path of every write.
  public static func when(
    _ description: String, _ admits: @escaping @Sendable (_ before: Scalar?, _ after: Scalar?) -> Bool
  ) -> ChangeFilter {
    ChangeFilter(description: description, admits: admits)
  }

  private init(description: String, admits: @escaping @Sendable (Scalar?, Scalar?) -> Bool) {
    self.description = description
    self.admits = admits
  }

  /// Whether the function wants to see this change.
  public func callAsFunction(before: Scalar?, after: Scalar?) -> Bool { admits(before, after) }
}
