import TreeModel

/// What a service account signs to get an access token (RFC 7523; `urn:ietf:params:oauth:grant-type:jwt-bearer`).
///
/// An assertion may be sent again by whoever has seen it, so the access token that it buys ends with it (``expiresAt``):
/// a second sending gives nothing that the first did not.
public struct ServiceAccountAssertion: Sendable, Hashable {
  /// The grant type of the request that carries one.
  public static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  /// What Google's library for Python writes as the audience, whatever the key file says. Accepted beside the file's own:
  /// the key is known here alone, so there is nobody else whom the assertion could have been made for.
  static let googleAudience = "https://oauth2.googleapis.com/token"
  /// How long an assertion may be valid, in seconds.
  public static let lifetimeMax: Int64 = 3600

  /// Who signed it (`iss`): a mail address.
  public let email: String
  /// With which of the account's keys.
  public let keyID: KeyID
  /// When it ends, in seconds since 1970.
  public let expiresAt: Int64
  /// What for (`scope`), as it was written; empty if it does not say.
  public let scope: String

  /// Verifies an assertion.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - signer: the public key of a live service account by mail address and key name, and the address of the token
  ///     endpoint that stands in its key file: what the assertion must be meant for. Nil if there is none.
  /// - Throws: ``TokenFault``
  public init(
    _ text: String, at now: Int64, signer: (_ email: String, _ id: KeyID) -> (key: VerificationKey, tokenURI: String)?
  ) throws(TokenFault) {
    let token = try WebToken(parsing: text)
    guard token.algorithm != .none else { throw .unsupportedAlgorithm("none") }
    guard let email = token.claims["iss"]?.string, !email.isEmpty else {
      throw .malformed("it names no service account (iss).")
    }
    guard let id = token.keyID, let signer = signer(email, id) else { throw .unknownKey(token.keyID) }
    try token.check(signature: signer.key)
    // Acting for another user is not a thing here: who signs is who acts.
    if let subject = token.claims["sub"]?.string, subject != email { throw .wrongIssuer(email) }
    let audience = token.claims["aud"]?.string ?? "nobody"
    guard audience == signer.tokenURI || audience == Self.googleAudience else {
      throw .wrongAudience(String(audience.unicodeScalars.prefix(200)))
    }
    let times = try TokenTimes(token.claims)
    try times.check(at: now, skew: TokenTimes.skew)
    guard times.expiresAt - times.issuedAt <= Self.lifetimeMax else { throw .malformed("it is valid for more than an hour.") }
    self.email = email
    keyID = id
    expiresAt = times.expiresAt
    scope = token.claims["scope"]?.string ?? ""
  }
}
