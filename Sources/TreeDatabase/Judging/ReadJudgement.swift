public import TreeModel

/// What the rules say of a read.
public struct ReadJudgement: Sendable {
  /// Whether it is allowed.
  public let isAllowed: Bool
  /// Where the rules looked: a commit there may change what they say.
  public let places: [PathBytes]

  /// A verdict.
  public init(isAllowed: Bool, places: [PathBytes] = []) {
    self.isAllowed = isAllowed
    self.places = places
  }

  /// Allowed, whatever the tree holds.
  public static let allowed = ReadJudgement(isAllowed: true)
  /// Denied, whatever the tree holds.
  public static let denied = ReadJudgement(isAllowed: false)
}
