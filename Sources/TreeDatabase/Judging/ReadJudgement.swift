public import TreeModel

/// What the rules say of a read.
public struct ReadJudgement: Sendable {
  /// Whether it is allowed.
  public let isAllowed: Bool
  /// Where the rules looked: a commit there may change what they say.
  public let places: [PathBytes]

  /// When the rules should be asked again although nothing was written, in milliseconds since 1970; nil if time changes
  /// nothing.
  public let holdsUntil: Int64?

  /// A verdict.
  public init(isAllowed: Bool, places: [PathBytes] = [], holdsUntil: Int64? = nil) {
    self.isAllowed = isAllowed
    self.places = places
    self.holdsUntil = holdsUntil
  }

  /// Allowed, whatever the tree holds.
  public static let allowed = ReadJudgement(isAllowed: true)
  /// Denied, whatever the tree holds.
  public static let denied = ReadJudgement(isAllowed: false)
}
