/// Somebody else who says who a user is: whose ID tokens are accepted, and for which applications.
public struct IdentityProvider: Sendable, Hashable {
  /// The name that accounts keep: `google.com`, `apple.com`, `oidc.guild`.
  public let id: String
  /// Who may have issued a token (`iss`).
  public let issuers: Set<String>
  /// For which applications (`aud`): client ids.
  public let audiences: Set<String>
  /// Where the public keys are.
  public let keysURL: String
  /// Whether a token with a nonce is refused if the request does not bring the nonce along.
  public let demandsNonce: Bool

  /// Any issuer that speaks OpenID Connect.
  ///
  /// - Precondition: an issuer and an audience are named; without them every application's tokens would do.
  public init(id: String, issuers: Set<String>, audiences: Set<String>, keysURL: String, demandsNonce: Bool = true) {
    precondition(!issuers.isEmpty && !audiences.isEmpty, "Name the issuer and the client ids of \(id).")
    self.id = id
    self.issuers = issuers
    self.audiences = audiences
    self.keysURL = keysURL
    self.demandsNonce = demandsNonce
  }

  /// Sign in with Google. Its libraries put a nonce of their own into tokens, which clients do not know.
  public static func google(clientIDs: Set<String>) -> IdentityProvider {
    IdentityProvider(
      id: "google.com", issuers: ["https://accounts.google.com", "accounts.google.com"], audiences: clientIDs,
      keysURL: "https://www.googleapis.com/oauth2/v3/certs", demandsNonce: false)
  }

  /// Sign in with Apple; the audiences are the bundle ids, and the service id for the web.
  public static func apple(clientIDs: Set<String>) -> IdentityProvider {
    IdentityProvider(
      id: "apple.com", issuers: ["https://appleid.apple.com"], audiences: clientIDs,
      keysURL: "https://appleid.apple.com/auth/keys")
  }

  /// The ID tokens of a project at Firebase itself: for a game that moves over, or that keeps its accounts there.
  public static func firebase(project: String) -> IdentityProvider {
    IdentityProvider(
      id: "firebase.\(project)", issuers: [IDTokenIssuer.issuer(project)], audiences: [project],
      keysURL: "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
      demandsNonce: false)
  }
}
