import Crypto
import TextFormats
package import TreeModel

/// Who somebody is elsewhere, by a verified ID token of that provider.
package struct ForeignIdentity: Sendable, Hashable {
  /// The provider's ``IdentityProvider/id``.
  package let provider: String
  /// The user's id there (`sub`).
  package let subject: String
  /// The mail address there, lower-cased, if it was told.
  package let email: String?
  /// Whether the provider has seen that the address is the user's, and its word on that counts.
  package let isEmailVerified: Bool
  /// The user's name, if it was told.
  package let name: String?
  /// The address of a picture, if it was told.
  package let picture: String?
  /// All claims: an object.
  package let claims: JSON

  /// Verifies a token.
  ///
  /// - `keys`: the provider's public keys, fetched from ``IdentityProvider/keys``.
  /// - `nonce`: what the request brings along; the token carries its SHA-256 as hexadecimal digits.
  /// - `now`: milliseconds since 1970.
  /// - Throws: ``TokenError``. After ``TokenError/unknownKey(_:)`` fetch the keys again, once (``KeySetCache``).
  package init(_ text: String, from provider: IdentityProvider, keys: KeySet, nonce: String?, at now: Int64) throws(TokenError)
  {
    let token = try WebToken(parsing: text)
    guard token.algorithm != .none else { throw .unsupportedAlgorithm("none") }
    guard let key = keys.key(token.keyID) else { throw .unknownKey(token.keyID) }
    try token.check(signature: key)
    let claims = token.claims
    let issuer = claims["iss"]?.string ?? "nobody"
    guard provider.issuers.contains(issuer) else { throw .wrongIssuer(String(issuer.unicodeScalars.prefix(100))) }
    try Self.checkAudience(claims, provider: provider)
    try TokenTimes(claims).check(at: now, skew: TokenTimes.skew)
    try Self.checkNonce(claims, nonce: nonce, provider: provider)
    try self.init(claims, provider)
  }

  private init(_ claims: JSON, _ provider: IdentityProvider) throws(TokenError) {
    guard let subject = claims["sub"]?.string, !subject.isEmpty, subject.utf8.count <= 255 else {
      throw .malformed("its sub is no text.")
    }
    self.provider = provider.id
    self.subject = subject
    email = claims["email"]?.string.flatMap { $0.isEmpty || $0.utf8.count > 320 ? nil : $0.lowercased() }
    // Apple writes "true".
    let isVerified = claims["email_verified"]?.bool ?? (claims["email_verified"]?.string == "true")
    isEmailVerified = isVerified && provider.vouchesForEmail
    name = claims["name"]?.string
    picture = claims["picture"]?.string
    self.claims = claims
  }

  private static func checkAudience(_ claims: JSON, provider: IdentityProvider) throws(TokenError) {
    let audiences = claims["aud"]?.array?.compactMap(\.string) ?? [claims["aud"]?.string].compactMap { $0 }
    guard audiences.contains(where: provider.audiences.contains) else {
      throw .wrongAudience(String((audiences.first ?? "nobody").unicodeScalars.prefix(100)))
    }
    // A token for several must say for whom it was made (OpenID Connect Core §3.1.3.7).
    if audiences.count > 1 {
      guard let party = claims["azp"]?.string, provider.audiences.contains(party) else { throw .wrongAudience("several") }
    }
  }

  private static func checkNonce(_ claims: JSON, nonce: String?, provider: IdentityProvider) throws(TokenError) {
    let claimed = claims["nonce"]?.string
    guard let nonce else {
      if claimed != nil && provider.demandsNonce { throw .wrongNonce }
      return
    }
    let hash = Hex.encode(SHA256.hash(data: Array(nonce.utf8)))
    guard let claimed, SecretComparison.areEqual(Array(claimed.utf8), right: Array(hash.utf8)) else { throw .wrongNonce }
  }
}

/// Users of somebody else who are users here with the same ids: verifies their ID tokens, each signature once.
///
/// For a Firebase project the claims are what they are in this server's own tokens. Of any other issuer `firebase` is replaced
/// by what is true, so that nobody gets past a rule by calling himself what he is not.
package final class ForeignUsers: Sendable {
  /// Who issues the tokens.
  package let provider: IdentityProvider
  private let isFirebase: Bool
  private let uidPrefix: String
  private let verified: VerifiedTokens

  /// - `uidPrefix`: a prefix of the issuer's `sub` in user ids, to keep them apart from others; usually nothing.
  /// - `cacheSize`: how many verified tokens are kept in memory.
  package init(provider: IdentityProvider, isFirebase: Bool, uidPrefix: String = "", cacheSize: Int = 4096) {
    // A client that asks for data got the token long ago: the nonce was for the moment of the sign-in.
    self.provider = provider.with(demandsNonce: false)
    self.isFirebase = isFirebase
    self.uidPrefix = uidPrefix
    verified = VerifiedTokens(capacity: cacheSize)
  }

  /// Verifies a token.
  ///
  /// - `keys`: the issuer's public keys.
  /// - `now`: milliseconds since 1970.
  /// - Throws: ``TokenError``
  package func user(of text: String, keys: KeySet, at now: Int64) throws(TokenError) -> IDToken {
    if let known = verified.token(for: text, isPublished: { keys.key($0) != nil }) {
      try TokenTimes(known.claims).check(at: now, skew: TokenTimes.skew)
      return known
    }
    let identity = try ForeignIdentity(text, from: provider, keys: keys, nonce: nil, at: now)
    let uid = uidPrefix + identity.subject
    guard uid.utf16.count <= IDTokenClaims.uidMax else { throw .malformed("its sub is longer than a user id may be.") }
    let claims = isFirebase ? identity.claims : Self.described(identity)
    let audience = identity.claims["aud"]?.string ?? identity.provider
    let token = IDToken(uid: uid, project: audience, times: try TokenTimes(claims), claims: claims)
    verified.insert(token, for: text, signedWith: try WebToken(parsing: text).keyID)
    return token
  }

  /// The claims as rules see them.
  private static func described(_ identity: ForeignIdentity) -> JSON {
    let own = ["firebase", "provider_id", "user_id"]
    let firebase: JSON = [
      "identities": .object([JSON.Member(key: identity.provider, value: [.string(identity.subject)])]),
      "sign_in_provider": .string(identity.provider),
    ]
    let kept = (identity.claims.object ?? []).filter { !own.contains($0.key) }
    return .object(kept + [JSON.Member(key: "firebase", value: firebase)])
  }
}
