import TreeModel

/// Users of somebody else who are users here with the same ids: verifies their ID tokens, each signature once.
///
/// For a Firebase project the claims are what they are in the house's own tokens. Of any other issuer `firebase` is replaced
/// by what is true, so that nobody gets past a rule by calling himself what he is not.
public final class ForeignUsers: Sendable {
  /// Who issues the tokens.
  public let provider: IdentityProvider
  private let isFirebase: Bool
  private let uidPrefix: String
  private let verified: VerifiedTokens

  /// - Parameters:
  ///   - uidPrefix: what stands before the issuer's `sub` in user ids, to keep them apart from others; usually nothing.
  ///   - cacheSize: how many verified tokens are kept in memory.
  public init(provider: IdentityProvider, isFirebase: Bool, uidPrefix: String = "", cacheSize: Int = 4096) {
    // Whoever asks for data has long got the token: the nonce was for the moment of the sign-in.
    self.provider = provider.with(demandsNonce: false)
    self.isFirebase = isFirebase
    self.uidPrefix = uidPrefix
    verified = VerifiedTokens(capacity: cacheSize)
  }

  /// Verifies a token.
  ///
  /// - Parameters:
  ///   - keys: the issuer's public keys.
  ///   - now: milliseconds since 1970.
  /// - Throws: ``TokenFault``
  public func user(of text: String, keys: KeySet, at now: Int64) throws(TokenFault) -> IDToken {
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
