/// That tokens of an account which were issued before a second are void: kept for as long as such a token could live.
public struct AccountRevocation: Sendable, Hashable {
  /// Why.
  public enum Reason: String, Sendable, Hashable {
    /// The password or address changed, an administrator revoked, an identity was linked.
    case revoked
    case disabled
    case deleted
  }

  /// Whose tokens.
  public let uid: String
  /// Why.
  public let reason: Reason
  /// In seconds since 1970: tokens with an earlier `iat` are void.
  public let notBefore: Int64
  /// From when on they are refused where they are not looked up each time, in milliseconds since 1970. A little later than
  /// now if the player's own deed made them void: the next token is on its way.
  public let effectiveAt: Int64

  public init(uid: String, reason: Reason, notBefore: Int64, effectiveAt: Int64) {
    self.uid = uid
    self.reason = reason
    self.notBefore = notBefore
    self.effectiveAt = effectiveAt
  }
}
