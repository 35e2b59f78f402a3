/// What rules say of a read, and for how long.
public struct RuleVerdict: Sendable, Hashable {
  /// The longest time for which a verdict that rests on `now` is believed, in milliseconds.
  static let believedFor: Int64 = 60_000

  /// Whether the read is allowed.
  public let isAllowed: Bool
  /// When the rules should be asked again although nothing was written, in milliseconds since 1970: when the next comparison
  /// with `now` turns, or a minute from now, whichever is earlier. Nil if no rule looked at `now`.
  public let holdsUntil: Int64?
}
