/// What a refresh token stands for. Of the token itself only a hash is stored.
public struct RefreshTokenRecord: Sendable, Hashable {
  /// SHA-256 of the token.
  public let hash: [UInt8]
  /// Whose session it is.
  public let uid: String
  /// How the player signed in: every ID token of this session says so.
  public let provider: String
  /// The claims of the custom token that the player signed in with, as JSON text.
  public let claims: String?
  /// The second factor that the player showed, as the tokens' room writes it: `totp/ID`; nil for none.
  public let secondFactor: String?
  /// When the player signed in, in seconds since 1970 (`auth_time`).
  public let authTime: Int64
  /// When it was issued or, within a day, last used; in milliseconds since 1970. What made older tokens void did not make
  /// void this one.
  public var issuedAt: Int64

  public init(
    hash: [UInt8], uid: String, provider: String, claims: String?, secondFactor: String? = nil, authTime: Int64,
    issuedAt: Int64
  ) {
    self.hash = hash
    self.uid = uid
    self.provider = provider
    self.claims = claims
    self.secondFactor = secondFactor
    self.authTime = authTime
    self.issuedAt = issuedAt
  }
}
