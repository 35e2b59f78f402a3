package import Credentials
import StorageCore
import TextFormats
import TreeModel

/// Who a player is at somebody else.
struct ProvenIdentity: Sendable {
  let provider: AccountRecord.Provider
  let isEmailVerified: Bool
  let claims: JSON

  /// What was verified.
  init(_ identity: ForeignIdentity) {
    self.init(
      provider: identity.provider, subject: identity.subject, email: identity.email,
      isEmailVerified: identity.isEmailVerified, claims: identity.claims)
  }

  /// Believes what is claimed, as emulators do; nil if the text is neither JSON nor a token.
  ///
  /// - Throws: `INVALID_IDP_RESPONSE` if it names nobody.
  init?(unverified text: String, of assertion: ProviderAssertion) throws(AccountError) {
    let claims: JSON
    if text.utf8.first == UInt8(ascii: "{") {
      guard text.utf8.count <= WebToken.sizeMax, let json = try? JSONParser.parse(text) else {
        throw AccountError("INVALID_IDP_RESPONSE", "Unable to parse id_token: \(text.prefix(80))")
      }
      claims = json
    } else {
      guard let token = Self.claims(ofToken: text) else {
        throw AccountError("INVALID_IDP_RESPONSE", "Unable to parse id_token.")
      }
      claims = token
    }
    guard let subject = claims["sub"]?.string, !subject.isEmpty else {
      throw AccountError(
        "INVALID_IDP_RESPONSE",
        "Invalid Idp Response: id_token missing required fields. ((Missing \"sub\" field. This field is "
          + "required and must be a unique identifier.))")
    }
    // The player is known by the subject: an address that could not be written to is left out, and signs nobody out.
    let email = claims["email"]?.string.flatMap { EmailAddress($0)?.text }
    self.init(
      provider: assertion.providerID, subject: subject, email: email,
      isEmailVerified: claims["email_verified"]?.bool ?? (claims["email_verified"]?.string == "true"), claims: claims)
  }

  private init(provider: String, subject: String, email: String?, isEmailVerified: Bool, claims: JSON) {
    self.provider = AccountRecord.Provider(
      id: provider, rawID: subject, email: email, displayName: claims["name"]?.string ?? claims["display_name"]?.string,
      photoURL: claims["picture"]?.string, screenName: claims["screen_name"]?.string)
    self.isEmailVerified = isEmailVerified
    self.claims = claims
  }

  /// What clients show as the provider's own answer, as JSON text.
  var rawUserInfo: String {
    let address = "https://www.googleapis.com/auth/userinfo."
    let scopes = ["openid", address + "profile"] + (provider.email == nil ? [] : [address + "email"])
    let members: [(String, JSON?)] = [
      ("granted_scopes", .string(scopes.joined(separator: " "))),
      ("id", .string(provider.rawID)), ("name", provider.displayName.map(JSON.string)),
      ("given_name", claims["given_name"]), ("family_name", claims["family_name"]),
      ("verified_email", provider.email == nil ? nil : .bool(isEmailVerified)), ("locale", "en"),
      ("email", provider.email.map(JSON.string)), ("picture", provider.photoURL.map(JSON.string)),
    ]
    return JSON(fields: members).compactText
  }

  /// The claims of a token whose signature is nobody's business here.
  private static func claims(ofToken text: String) -> JSON? {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, text.utf8.count <= WebToken.sizeMax, let payload = Base64.decode(parts[1]) else { return nil }
    return try? JSONParser.parse(payload)
  }
}

/// What is asked of others about who somebody is: the composition answers, from configuration and over the network.
package protocol IdentityProving: Sendable {
  /// Verifies a provider's ID token; nil if no such provider is configured.
  func identity(_ token: String, of provider: String, nonce: String?) async throws(TokenError) -> ForeignIdentity?
  /// The public key of a service account that may sign custom tokens; nil if there is none.
  func serviceAccountKey(_ email: String, _ id: KeyID?) -> VerificationKey?
}

/// Nobody elsewhere is believed.
package struct NoIdentities: IdentityProving {
  package init() {}
  package func identity(_ token: String, of provider: String, nonce: String?) async throws(TokenError) -> ForeignIdentity? {
    nil
  }
  package func serviceAccountKey(_ email: String, _ id: KeyID?) -> VerificationKey? { nil }
}
