package import Credentials
package import StorageCore
import TextFormats
import TreeModel

/// Answers who somebody is at an identity provider: the composition does, from configuration and over the network.
package protocol IdentityProving: Sendable {
  /// Verifies a provider's ID token; nil if no such provider is configured.
  func identity(_ token: String, of provider: String, nonce: String?) async throws(TokenError) -> ForeignIdentity?
  /// Verifies a provider's ID token, of a provider that administrators set up meanwhile.
  func identity(_ token: String, by provider: IdentityProvider, nonce: String?) async throws(TokenError) -> ForeignIdentity
  /// The public key of a service account that may sign custom tokens; nil if there is none.
  func serviceAccountKey(_ email: String, id: KeyID?) -> VerificationKey?
}

/// No identity elsewhere is believed.
package struct NoIdentities: IdentityProving {
  package init() {}
  package func identity(_ token: String, of provider: String, nonce: String?) async throws(TokenError) -> ForeignIdentity? {
    nil
  }
  package func identity(_ token: String, by provider: IdentityProvider, nonce: String?) async throws(TokenError)
    -> ForeignIdentity
  {
    throw .keysUnavailable(provider.id)
  }
  package func serviceAccountKey(_ email: String, id: KeyID?) -> VerificationKey? { nil }
}

/// What a client brings to show who a player is at an identity provider.
package struct IdentityAssertion: Sendable, Hashable {
  package let provider: ProviderID
  package var idToken: String?
  package var accessToken: String?
  package var nonce: String?

  package init(provider: ProviderID) {
    self.provider = provider
  }
}

/// Who a player is at an identity provider.
package struct ProvenIdentity: Sendable {
  package let provider: AccountRecord.Provider
  package let isEmailVerified: Bool
  /// What the provider says of the player, as JSON text.
  package let claims: String

  /// What was verified.
  init(_ identity: ForeignIdentity) {
    self.init(
      provider: identity.provider, subject: identity.subject, email: identity.email,
      isEmailVerified: identity.isEmailVerified, claims: identity.claims)
  }

  /// Believes what is claimed, as emulators do; nil if the text is neither JSON nor a token.
  ///
  /// - Throws: `AccountError/invalidIdentity(_:)` if it does not say whose it is.
  init(unverified text: String, of provider: ProviderID) throws {
    let claims: JSON
    if text.utf8.first == UInt8(ascii: "{") {
      guard text.utf8.count <= WebToken.sizeMax, let json = try? JSONParser.parse(text) else {
        throw AccountError.invalidIdentity(.unreadable(String(text.prefix(80))))
      }
      claims = json
    } else {
      guard let token = Self.claims(ofToken: text) else { throw AccountError.invalidIdentity(.unreadable(nil)) }
      claims = token
    }
    guard let subject = claims["sub"]?.string, !subject.isEmpty else {
      throw AccountError.invalidIdentity(.missingSubject)
    }
    // The player is known by the subject: an address that could not be written to is left out, and signs nobody out.
    let email = claims["email"]?.string.flatMap { EmailAddress($0)?.text }
    self.init(
      provider: provider.text, subject: subject, email: email,
      isEmailVerified: claims["email_verified"]?.bool ?? (claims["email_verified"]?.string == "true"), claims: claims)
  }

  private init(provider: String, subject: String, email: String?, isEmailVerified: Bool, claims: JSON) {
    self.provider = AccountRecord.Provider(
      id: provider, rawID: subject, email: email, displayName: claims["name"]?.string ?? claims["display_name"]?.string,
      photoURL: claims["picture"]?.string, screenName: claims["screen_name"]?.string)
    self.isEmailVerified = isEmailVerified
    self.claims = claims.compactText
  }

  /// The claims of a token whose signature is not checked.
  private static func claims(ofToken text: String) -> JSON? {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, text.utf8.count <= WebToken.sizeMax, let payload = Base64.decode(parts[1]) else { return nil }
    return try? JSONParser.parse(payload)
  }
}
