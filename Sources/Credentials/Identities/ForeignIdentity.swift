import Crypto
public import TreeModel

/// Who somebody is elsewhere, by a verified ID token of that provider.
public struct ForeignIdentity: Sendable, Hashable {
  /// The provider's ``IdentityProvider/id``.
  public let provider: String
  /// The user's id there (`sub`).
  public let subject: String
  /// The mail address there, lower-cased, if it was told.
  public let email: String?
  /// Whether the provider has seen that the address is the user's, and its word on that counts.
  public let isEmailVerified: Bool
  /// The user's name, if it was told.
  public let name: String?
  /// The address of a picture, if it was told.
  public let picture: String?
  /// All claims: an object.
  public let claims: JSON

  /// Verifies a token.
  ///
  /// - Parameters:
  ///   - keys: the provider's public keys, fetched from ``IdentityProvider/keys``.
  ///   - nonce: what the request brings along; the token carries its SHA-256 as hexadecimal digits.
  ///   - now: milliseconds since 1970.
  /// - Throws: ``TokenFault``. After ``TokenFault/unknownKey(_:)`` fetch the keys again, once (``KeySetCache``).
  public init(_ text: String, from provider: IdentityProvider, keys: KeySet, nonce: String?, at now: Int64) throws(TokenFault) {
    let token = try WebToken(parsing: text)
    guard token.algorithm != .none else { throw .unsupportedAlgorithm("none") }
    guard let key = keys.key(token.keyID) else { throw .unknownKey(token.keyID) }
    try token.check(signature: key)
    let claims = token.claims
    let issuer = claims["iss"]?.string ?? "nobody"
    guard provider.issuers.contains(issuer) else { throw .wrongIssuer(String(issuer.unicodeScalars.prefix(100))) }
    try Self.checkAudience(claims, provider)
    try TokenTimes(claims).check(at: now, skew: TokenTimes.skew)
    try Self.checkNonce(claims, nonce, provider)
    try self.init(claims, provider)
  }

  private init(_ claims: JSON, _ provider: IdentityProvider) throws(TokenFault) {
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

  private static func checkAudience(_ claims: JSON, _ provider: IdentityProvider) throws(TokenFault) {
    let audiences = claims["aud"]?.array?.compactMap(\.string) ?? [claims["aud"]?.string].compactMap { $0 }
    guard audiences.contains(where: provider.audiences.contains) else {
      throw .wrongAudience(String((audiences.first ?? "nobody").unicodeScalars.prefix(100)))
    }
    // A token for several must say for whom it was made (OpenID Connect Core §3.1.3.7).
    if audiences.count > 1 {
      guard let party = claims["azp"]?.string, provider.audiences.contains(party) else { throw .wrongAudience("several") }
    }
  }

  private static func checkNonce(_ claims: JSON, _ nonce: String?, _ provider: IdentityProvider) throws(TokenFault) {
    let claimed = claims["nonce"]?.string
    guard let nonce else {
      if claimed != nil && provider.demandsNonce { throw .wrongNonce }
      return
    }
    let hash = SHA256.hash(data: Array(nonce.utf8)).map { String(byte: $0) }.joined()
    guard let claimed, SecretComparison.areEqual(Array(claimed.utf8), Array(hash.utf8)) else { throw .wrongNonce }
  }
}
