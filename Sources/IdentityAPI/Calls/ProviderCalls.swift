import APISupport
import Accounts
import StorageCore
import TreeModel

/// `accounts:signInWithIdp`: signing in, and linking, with an identity at a provider.
enum ProviderCalls {
  static func signIn(_ accounts: AccountService, _ call: IdentityCall) async throws -> JSON {
    let assertion = try IdentityAssertion(call.fields)
    let outcome = try await accounts.federation.signIn(
      assertion, idToken: { try call.fields.text("idToken") }, context: call.context)
    let identity = outcome.identity
    let claims = (try? JSONParser.parse(identity.claims)) ?? .null
    let credentials = credentials(assertion, of: identity, isDevelopment: accounts.options.isDevelopment)
    let described = described(identity, claims: claims)
    switch outcome.outcome {
    case .conflict(let error):
      // With returnIdpCredential a conflict is an answer, from which the client takes the credential and goes on.
      guard try call.fields.bool("returnIdpCredential") ?? false else { throw error }
      return JSON(fields: described + [("errorMessage", .string(IdentityError(error).message))] + credentials)
    case .needsConfirmation(let account):
      return JSON(
        fields: described + [
          ("needConfirmation", true), ("localId", .string(account.uid)),
          ("verifiedProvider", .array(account.providerIDs.map(JSON.string))),
        ] + credentials)
    case .signedIn(let signedIn):
      return JSON(
        fields: described + [
          ("localId", .string(signedIn.account.uid)), ("tenantId", signedIn.account.tenant.map(JSON.string)),
          ("isNewUser", signedIn.isNew ? true : nil),
        ] + credentials + signedIn.result.members)
    }
  }

  private static func described(_ identity: ProvenIdentity, claims: JSON) -> [(String, JSON?)] {
    let provider = identity.provider
    return [
      ("kind", "identitytoolkit#VerifyAssertionResponse"), ("providerId", .string(provider.id)),
      ("federatedId", .string(AccountJSON.federatedID(provider))), ("email", provider.email.map(JSON.string)),
      ("emailVerified", provider.email == nil ? nil : .bool(identity.isEmailVerified)),
      ("displayName", provider.displayName.map(JSON.string)), ("fullName", provider.displayName.map(JSON.string)),
      ("firstName", claims["given_name"]?.string.map(JSON.string)),
      ("lastName", claims["family_name"]?.string.map(JSON.string)), ("photoUrl", provider.photoURL.map(JSON.string)),
      ("screenName", provider.screenName.map(JSON.string)), ("rawUserInfo", .string(rawUserInfo(identity, claims: claims))),
    ]
  }

  /// What clients show as the provider's own answer, as JSON text.
  private static func rawUserInfo(_ identity: ProvenIdentity, claims: JSON) -> String {
    let provider = identity.provider
    let address = "https://www.googleapis.com/auth/userinfo."
    let scopes = ["openid", address + "profile"] + (provider.email == nil ? [] : [address + "email"])
    let members: [(String, JSON?)] = [
      ("granted_scopes", .string(scopes.joined(separator: " "))),
      ("id", .string(provider.rawID)), ("name", provider.displayName.map(JSON.string)),
      ("given_name", claims["given_name"]), ("family_name", claims["family_name"]),
      ("verified_email", provider.email == nil ? nil : .bool(identity.isEmailVerified)), ("locale", "en"),
      ("email", provider.email.map(JSON.string)), ("picture", provider.photoURL.map(JSON.string)),
    ]
    return JSON(fields: members).compactText
  }

  /// What clients make the player's credential of.
  ///
  /// Of most providers SDKs take the access token and nothing else, and without one give their application no credential,
  /// so that it could not link the account either. In development the claims stand in for it, which a later sign-in
  /// takes as such.
  private static func credentials(_ assertion: IdentityAssertion, of identity: ProvenIdentity, isDevelopment: Bool)
    -> [(String, JSON?)]
  {
    let accessToken = assertion.accessToken ?? (isDevelopment ? identity.claims : "")
    return [
      ("oauthIdToken", assertion.idToken.map(JSON.string)), ("oauthAccessToken", .string(accessToken)),
      ("nonce", assertion.nonce.map(JSON.string)),
    ]
  }
}
