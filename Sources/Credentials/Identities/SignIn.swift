public import TreeModel

/// How a user came in: what stays the same for all tokens of a session.
public struct SignIn: Sendable, Hashable {
  /// `anonymous`, `password`, `phone`, `custom`, `google.com`, …
  public let provider: String
  /// When, in seconds since 1970 (`auth_time`); a refresh leaves it.
  public let time: Int64
  /// The claims of the custom token: an object, or null.
  public let extraClaims: JSON

  /// What the player showed beside it; nil if nothing was asked for.
  public let secondFactor: UsedFactor?

  public init(provider: String, time: Int64, extraClaims: JSON = .null, secondFactor: UsedFactor? = nil) {
    self.provider = provider
    self.time = time
    self.extraClaims = extraClaims
    self.secondFactor = secondFactor
  }
}
