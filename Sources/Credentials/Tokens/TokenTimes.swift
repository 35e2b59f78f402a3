public import TreeModel

/// When a token was issued and when it ends, in seconds since 1970, as claims have it.
public struct TokenTimes: Sendable, Hashable {
  /// How far the clocks of two machines may be apart, in seconds.
  public static let skew: Int64 = 60
  /// Beyond this no time is believed: the year 9999.
  private static let latest: Int64 = 253_402_300_799

  /// `iat`.
  public let issuedAt: Int64
  /// `exp`.
  public let expiresAt: Int64
  private let notBefore: Int64

  /// Reads `iat`, `exp` and, where it is there, `nbf`.
  ///
  /// - Throws: ``TokenFault/malformed(_:)``
  public init(_ claims: JSON) throws(TokenFault) {
    issuedAt = try Self.time("iat", of: claims)
    expiresAt = try Self.time("exp", of: claims)
    notBefore = claims["nbf"] == nil ? issuedAt : max(issuedAt, try Self.time("nbf", of: claims))
  }

  private static func time(_ name: String, of claims: JSON) throws(TokenFault) -> Int64 {
    guard let time = claims[name]?.int, (0...latest).contains(time) else {
      throw .malformed("its claim \(name) is no time in seconds since 1970.")
    }
    return time
  }

  /// Whether the token is valid at a time.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - skew: how far the issuer's clock may be ahead or behind, in seconds; 0 for what was issued here.
  /// - Throws: ``TokenFault/expired``, ``TokenFault/notYetValid``.
  public func check(at now: Int64, skew: Int64 = 0) throws(TokenFault) {
    let second = now / 1000
    guard second < expiresAt + skew else { throw .expired }
    // A clock that is corrected steps back a little: what was issued here a moment ago stays valid.
    guard notBefore <= second + max(skew, Self.skew) else { throw .notYetValid }
  }
}
