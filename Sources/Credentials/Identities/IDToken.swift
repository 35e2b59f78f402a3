public import TreeModel

/// An ID token, or a session cookie, that was verified.
///
/// A class: the cache hands on the same one for every request with the same token.
public final class IDToken: Sendable {
  /// Whose it is.
  public let uid: String
  /// The project that it is for (`aud`).
  public let project: String
  /// How the user came in (`firebase.sign_in_provider`); empty if the token does not say.
  public let provider: String
  /// When the user came in, in seconds since 1970 (`auth_time`).
  public let authTime: Int64
  /// When the token was issued, in seconds since 1970 (`iat`); what `validSince` is compared with.
  public let issuedAt: Int64
  /// When it ends, in seconds since 1970 (`exp`); nil for a mock token, which never does: nobody issued it, so nobody
  /// can renew it or take it back.
  public let expiresAt: Int64?
  /// All claims: an object.
  public let claims: JSON

  init(uid: String, project: String, times: TokenTimes, claims: JSON, isMock: Bool = false) {
    self.uid = uid
    self.project = project
    provider = claims["firebase"]?["sign_in_provider"]?.string ?? ""
    authTime = claims["auth_time"]?.int ?? times.issuedAt
    issuedAt = times.issuedAt
    expiresAt = isMock ? nil : times.expiresAt
    self.claims = claims
  }

  /// What of the claims a sign-in gave, to be asked for again at the refresh: provider, time, second factor.
  public var signIn: SignIn { SignIn(provider: provider, time: authTime, secondFactor: secondFactor) }

  /// What the user showed beside the first credential; nil for nothing.
  public var secondFactor: UsedFactor? { UsedFactor(claims: claims) }
}
