/// Somebody else who says who a user is: whose ID tokens are accepted, and for which applications.
package struct IdentityProvider: Sendable, Hashable {
  /// Where the public keys are found; always an `https` address.
  package enum KeyLocation: Sendable, Hashable {
    /// In this document: a JWKS, or `{kid: certificate}`.
    case document(String)
    /// In the document that the issuer's own description names as `jwks_uri` (OpenID Connect Discovery §4).
    case discovery(issuer: String)
  }

  /// The name that accounts keep: `google.com`, `apple.com`, `oidc.guild`.
  package let id: String
  /// Who may have issued a token (`iss`).
  package let issuers: Set<String>
  /// For which applications (`aud`): client ids.
  package let audiences: Set<String>
  /// Where the public keys are.
  package let keys: KeyLocation
  /// Whether a token with a nonce is refused if the request does not bring the nonce along.
  package let demandsNonce: Bool
  /// Whether its word counts that a mail address is the user's. Who may say so of any address can get into the account of
  /// anyone who has it.
  package let vouchesForEmail: Bool

  /// Any issuer that speaks OpenID Connect.
  ///
  /// - Precondition: an issuer and an audience are named; without them every application's tokens would do.
  package init(
    id: String, issuers: Set<String>, audiences: Set<String>, keys: KeyLocation, demandsNonce: Bool = true,
    vouchesForEmail: Bool = false
  ) {
    precondition(!issuers.isEmpty && !audiences.isEmpty, "Name the issuer and the client ids of \(id).")
    self.id = id
    self.issuers = issuers
    self.audiences = audiences
    self.keys = keys
    self.demandsNonce = demandsNonce
    self.vouchesForEmail = vouchesForEmail
  }

  /// Sign in with Google. Its libraries put a nonce of their own into tokens, which clients do not know.
  package static func google(clientIDs: Set<String>) -> IdentityProvider {
    IdentityProvider(
      id: "google.com", issuers: ["https://accounts.google.com", "accounts.google.com"], audiences: clientIDs,
      keys: .document("https://www.googleapis.com/oauth2/v3/certs"), demandsNonce: false, vouchesForEmail: true)
  }

  /// Sign in with Apple; the audiences are the bundle ids, and the service id for the web.
  package static func apple(clientIDs: Set<String>) -> IdentityProvider {
    IdentityProvider(
      id: "apple.com", issuers: ["https://appleid.apple.com"], audiences: clientIDs,
      keys: .document("https://appleid.apple.com/auth/keys"), vouchesForEmail: true)
  }

  /// The ID tokens of a project at Firebase itself: for a game that moves over, or that keeps its accounts there. The keys
  /// are the certificates that Firebase documents for servers without an SDK.
  package static func firebase(project: String) -> IdentityProvider {
    IdentityProvider(
      id: "firebase.\(project)", issuers: [IDTokenIssuer.issuer(project)], audiences: [project],
      keys: .document("https://www.googleapis.com/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com"),
      demandsNonce: false, vouchesForEmail: true)
  }

  /// The same provider with something said otherwise; nil leaves it.
  package func with(keys: KeyLocation? = nil, demandsNonce: Bool? = nil, vouchesForEmail: Bool? = nil) -> IdentityProvider {
    IdentityProvider(
      id: id, issuers: issuers, audiences: audiences, keys: keys ?? self.keys,
      demandsNonce: demandsNonce ?? self.demandsNonce, vouchesForEmail: vouchesForEmail ?? self.vouchesForEmail)
  }
}
