package import TreeModel

/// A token by which a studio's own server signs a user in
/// (https://firebase.google.com/docs/auth/admin/create-custom-tokens).
package struct CustomToken: Sendable, Hashable {
  /// What custom tokens are meant for (`aud`).
  package static let audience =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
  /// How long a custom token may be valid, in seconds.
  package static let lifetimeMax: Int64 = 3600

  /// Whom it signs in.
  package let uid: String
  /// The tenant that it signs in at (`tenant_id`); nil for the project itself.
  package let tenant: String?
  /// The claims that the session's tokens carry: an object.
  package let claims: JSON
  /// The service account that issued it; nil for one that was not verified.
  package let issuer: String?
  /// Whether it is plain JSON, which is believed in development only.
  package let isWrittenByHand: Bool

  /// Believes a token unseen, as emulators do: any token, signed or not, or plain JSON `{"uid":…,"claims":…}`.
  ///
  /// - Throws: ``CustomTokenError``
  package init(unverified text: String) throws(CustomTokenError) {
    if text.utf8.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
      guard text.utf8.count <= WebToken.sizeMax, let json = try? JSONParser.parse(text, depthMax: WebToken.depthMax) else {
        throw .invalid("The token is no JSON.")
      }
      try self.init(json, issuer: nil, isWrittenByHand: true)
      return
    }
    let token: WebToken
    do { token = try WebToken(parsing: text) } catch { throw .invalid(error.description) }
    try Self.checkAudience(token.claims)
    try self.init(token.claims, issuer: nil)
  }

  /// Verifies a token that a service account signed.
  ///
  /// - `now`: milliseconds since 1970.
  /// - `key`: the public key of a service account, by its mail address (`iss`) and the key's name; nil if there is none.
  /// - Throws: ``CustomTokenError``
  package init(_ text: String, at now: Int64, key: (_ issuer: String, _ id: KeyID?) -> VerificationKey?)
    throws(CustomTokenError)
  {
    let issuer: String
    let claims: JSON
    do throws(TokenError) {
      let token = try WebToken(parsing: text)
      guard let name = token.claims["iss"]?.string, token.claims["sub"]?.string == name else {
        throw .malformed("its iss and sub must both be the service account.")
      }
      guard token.algorithm != .none else { throw .unsupportedAlgorithm("none") }
      guard let key = key(name, token.keyID) else { throw .unknownKey(token.keyID) }
      try token.check(signature: key)
      let times = try TokenTimes(token.claims)
      try times.check(at: now, skew: TokenTimes.skew)
      guard times.expiresAt - times.issuedAt <= Self.lifetimeMax else { throw .malformed("it is valid for more than an hour.") }
      issuer = name
      claims = token.claims
    } catch {
      throw .invalid(error.description)
    }
    try Self.checkAudience(claims)
    try self.init(claims, issuer: issuer)
  }

  private static func checkAudience(_ claims: JSON) throws(CustomTokenError) {
    guard claims["aud"]?.string == audience else { throw .invalid("The token's audience must be \(audience).") }
  }

  private init(_ json: JSON, issuer: String?, isWrittenByHand: Bool = false) throws(CustomTokenError) {
    guard let uid = json["uid"]?.string ?? json["user_id"]?.string, !uid.isEmpty else { throw .missingIdentifier }
    guard uid.utf16.count <= IDTokenClaims.uidMax else { throw .invalid("The uid is longer than 128 characters.") }
    // Not "isNull ? nil": that nil would be JSON's null again.
    let claims = json["claims"].flatMap { $0.isNull ? JSON?.none : $0 } ?? .object([])
    guard claims.object != nil else { throw .invalid("The claims are no JSON object.") }
    if let name = ReservedClaims.first(in: claims) { throw .forbiddenClaim(name) }
    self.uid = uid
    tenant = json["tenant_id"]?.string
    self.claims = claims
    self.issuer = issuer
    self.isWrittenByHand = isWrittenByHand
  }
}

/// Why a custom token was not accepted.
package enum CustomTokenError: Error, Sendable, Hashable {
  /// Malformed, forged, expired, or meant for something else; the text says which.
  case invalid(String)
  /// It names no user.
  case missingIdentifier
  /// It claims what only the server may.
  case forbiddenClaim(String)

  /// What clients are told.
  package var wireMessage: String {
    switch self {
    case .invalid(let why): "INVALID_CUSTOM_TOKEN : \(why)"
    case .missingIdentifier: "MISSING_IDENTIFIER"
    case .forbiddenClaim(let name): "FORBIDDEN_CLAIM : \(name)"
    }
  }
}
