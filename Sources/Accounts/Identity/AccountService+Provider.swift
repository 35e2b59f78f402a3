import Credentials
package import StorageCore
package import TreeModel

/// Signing in, and linking, with an identity at somebody else (spec: auth-protocol §2.4).
extension AccountService {
  /// `accounts:signInWithIdp`.
  package func signInWithProvider(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let assertion = try ProviderAssertion(call.fields)
    let identity = try await identity(of: assertion)
    let linking = try caller(of: call)
    let uid = newUID()
    let token = newRefreshToken()
    let outcome: ProviderOutcome
    do throws(AccountError) {
      outcome = try await change(call.project, by: .user(uid: linking?.uid ?? uid)) { (bench) throws(AccountError) in
        try bench.signIn(identity, linking: linking, newUID: uid, from: call.address, token)
      }
    } catch {
      // With returnIdpCredential a conflict is an answer, from which the client takes the credential and goes on.
      let isConflict = ["FEDERATED_USER_ID_ALREADY_LINKED", "EMAIL_EXISTS"].contains(error.code)
      guard isConflict, try call.fields.bool("returnIdpCredential") ?? false else { throw error }
      return JSON(
        fields: Self.described(identity, assertion) + [("errorMessage", .string(error.message))]
          + credentials(assertion, of: identity))
    }
    switch outcome {
    case .needsConfirmation(let record):
      return JSON(
        fields: Self.described(identity, assertion) + [
          ("needConfirmation", true), ("localId", .string(record.uid)),
          ("verifiedProvider", .array(record.providerIDs.map(JSON.string))),
        ] + credentials(assertion, of: identity))
    case .signedIn(let session, let isNew):
      let record = session.record
      return JSON(
        fields: Self.described(identity, assertion) + [
          ("localId", .string(record.uid)), ("isNewUser", isNew ? true : nil),
        ] + credentials(assertion, of: identity) + (try tokens(session, of: call.project)))
    }
  }

  /// Who the player is there, believed as far as the mode says.
  private func identity(of assertion: ProviderAssertion) async throws(AccountError) -> ProvenIdentity {
    if let text = assertion.idToken {
      if options.isDevelopment, let identity = try ProvenIdentity(unverified: text, of: assertion) { return identity }
      let found: ForeignIdentity?
      do throws(TokenError) {
        found = try await identities.identity(text, of: assertion.providerID, nonce: assertion.nonce)
      } catch {
        if error == .wrongNonce { throw AccountError("MISSING_OR_INVALID_NONCE", error.description) }
        if case .keysUnavailable = error { throw .unavailable(error.description) }
        throw AccountError("INVALID_IDP_RESPONSE", error.description)
      }
      guard let found else {
        throw AccountError(
          "OPERATION_NOT_ALLOWED", "The identity provider configuration is not found. (accounts.providers names them.)")
      }
      return ProvenIdentity(found)
    }
    guard options.isDevelopment, let text = assertion.accessToken else {
      throw AccountError(
        "INVALID_CREDENTIAL_OR_PROVIDER_ID", "Invalid IdP response/credential: an id_token is needed.")
    }
    // Of some providers (Facebook) clients have nothing else; what an opaque one stands for nobody here knows.
    guard text.utf8.first == UInt8(ascii: "{"), let identity = try ProvenIdentity(unverified: text, of: assertion) else {
      throw AccountError(
        "INVALID_IDP_RESPONSE",
        "In development an access_token is JSON text like {\"sub\":\"abc\"}; an id_token may be that, or any JWT.")
    }
    return identity
  }

  private static func described(_ identity: ProvenIdentity, _ assertion: ProviderAssertion) -> [(String, JSON?)] {
    [
      ("kind", "identitytoolkit#VerifyAssertionResponse"), ("providerId", .string(identity.provider.id)),
      ("federatedId", .string(UserJSON.federatedID(identity.provider))),
      ("email", identity.provider.email.map(JSON.string)),
      ("emailVerified", identity.provider.email == nil ? nil : .bool(identity.isEmailVerified)),
      ("displayName", identity.provider.displayName.map(JSON.string)),
      ("fullName", identity.provider.displayName.map(JSON.string)),
      ("firstName", identity.claims["given_name"]?.string.map(JSON.string)),
      ("lastName", identity.claims["family_name"]?.string.map(JSON.string)),
      ("photoUrl", identity.provider.photoURL.map(JSON.string)),
      ("screenName", identity.provider.screenName.map(JSON.string)), ("rawUserInfo", .string(identity.rawUserInfo)),
    ]
  }

  /// What clients make the player's credential of.
  ///
  /// Of most providers SDKs take the access token and nothing else, and without one give their application no credential,
  /// so that it could not link the account either. In development the claims stand in for it, which a later sign-in
  /// takes as such.
  private func credentials(_ assertion: ProviderAssertion, of identity: ProvenIdentity) -> [(String, JSON?)] {
    let accessToken = assertion.accessToken ?? (options.isDevelopment ? identity.claims.compactText : "")
    return [
      ("oauthIdToken", assertion.idToken.map(JSON.string)), ("oauthAccessToken", .string(accessToken)),
      ("nonce", assertion.nonce.map(JSON.string)),
    ]
  }
}

extension AccountService {
  /// The identities that accounts have at a provider, for development's sign-in page.
  ///
  /// - `limit`: how many at most; ten thousand accounts are looked through.
  package func identities(at provider: String, of project: AccountProject, limit: Int) throws(AccountError)
    -> [AccountRecord.Provider]
  {
    let records = try look { (snapshot) throws(StorageError) in
      try snapshot.accounts(in: project.namespace, after: nil, limit: 10_000)
    }
    return Array(records.lazy.flatMap(\.providers).filter { $0.id == provider }.prefix(limit))
  }
}
