import Credentials
package import StorageCore

/// What came of a sign-in by an identity provider.
package struct FederatedSignIn: Sendable {
  package enum Outcome: Sendable {
    case signedIn(SignedInAccount)
    /// The address is another account's, and the provider has not seen that it is this player's.
    case needsConfirmation(AccountRecord)
    /// The identity, or its address, is another account's.
    case conflict(AccountError)
  }

  package let identity: ProvenIdentity
  package let outcome: Outcome
}

/// Signing in, and linking, with an identity at a provider.
package struct FederatedSignInService: Sendable {
  private let accounts: AccountService

  init(_ accounts: AccountService) {
    self.accounts = accounts
  }

  /// Signs in by an identity, or adds it to the caller's account.
  ///
  /// - `idToken`: the account that gets the identity; nil for the account that has it, or a new one.
  package func signIn(_ assertion: IdentityAssertion, idToken: () throws -> String?, context: AccountContext) async throws
    -> FederatedSignIn
  {
    let identity = try await identity(of: assertion, in: context.project)
    let linking = try accounts.caller(try idToken(), of: context.project)
    let uid = accounts.newUID()
    let token = accounts.newRefreshToken()
    do {
      let outcome = try await accounts.change(by: .user(uid: linking?.uid ?? uid), askingFor: context) { transaction in
        transaction.credential = assertion
        return try transaction.signIn(identity, linking: linking, newUID: uid, from: context.network, token: token)
      }
      return FederatedSignIn(identity: identity, outcome: try self.outcome(of: outcome, in: context.project))
    } catch let error as AccountError where error == .identityTaken || error == .emailTaken {
      return FederatedSignIn(identity: identity, outcome: .conflict(error))
    }
  }

  private func outcome(of outcome: AccountTransaction.ProviderOutcome, in project: AccountProject) throws
    -> FederatedSignIn.Outcome
  {
    switch outcome {
    case .needsConfirmation(let record): .needsConfirmation(record)
    case .signedIn(let session, let isNew): .signedIn(try accounts.signedIn(session, isNew: isNew, in: project))
    }
  }

  /// Who the player is there, believed as far as the mode says.
  private func identity(of assertion: IdentityAssertion, in project: AccountProject) async throws -> ProvenIdentity {
    let isDevelopment = accounts.options.isDevelopment
    let configuration = try accounts.providers.configuration(assertion.provider, of: project)
    guard configuration?.isEnabled != false else { throw AccountError.invalidIdentity(.disabledProvider) }
    if let text = assertion.idToken {
      if isDevelopment { return try ProvenIdentity(unverified: text, of: assertion.provider) }
      return ProvenIdentity(try await verified(text, of: assertion, by: configuration?.identityProvider))
    }
    guard isDevelopment, let text = assertion.accessToken else { throw AccountError.invalidIdentity(.missingIDToken) }
    // Of some providers (Facebook) clients have nothing else; an opaque one says nothing to anybody but the provider.
    guard text.utf8.first == UInt8(ascii: "{") else { throw AccountError.invalidIdentity(.opaqueAccessToken) }
    return try ProvenIdentity(unverified: text, of: assertion.provider)
  }

  /// - `configured`: what administrators set up over the API; nil for a provider of the configuration file, which
  ///   holds for every tenant.
  private func verified(_ token: String, of assertion: IdentityAssertion, by configured: IdentityProvider?) async throws
    -> ForeignIdentity
  {
    let found: ForeignIdentity?
    do throws(TokenError) {
      if let configured { return try await accounts.identities.identity(token, by: configured, nonce: assertion.nonce) }
      found = try await accounts.identities.identity(token, of: assertion.provider.text, nonce: assertion.nonce)
    } catch {
      if case .keysUnavailable = error { throw AccountError.unavailable(error.description) }
      throw AccountError.invalidIdentity(.token(error))
    }
    guard let found else { throw AccountError.invalidIdentity(.unknownProvider) }
    return found
  }

  /// The identities that accounts have at a provider, for development's sign-in page.
  ///
  /// - `limit`: how many at most; ten thousand accounts are looked through.
  package func identities(at provider: String, of project: AccountProject, limit: Int) throws -> [AccountRecord.Provider] {
    let page = try accounts.read { snapshot in
      try snapshot.page(of: project.scope, in: project.namespace, after: nil, limit: 10_000)
    }
    return Array(page.accounts.lazy.flatMap(\.providers).filter { $0.id == provider }.prefix(limit))
  }
}

extension AccountTransaction {
  /// What came of an identity.
  enum ProviderOutcome: Sendable {
    case signedIn(AccountSession, isNew: Bool)
    /// The address is another account's, and the provider has not seen that it is this player's.
    case needsConfirmation(AccountRecord)
  }

  /// Finds, links or makes the account of an identity.
  ///
  /// As Firebase's emulator does (firebase-tools, `src/emulator/auth/operations.ts`, `signInWithIdp`), but for the account whose
  /// address nobody had confirmed: it loses what was set before its owner came.
  func signIn(_ identity: ProvenIdentity, linking: IDToken?, newUID: String, from network: String, token: RefreshToken)
    throws -> ProviderOutcome
  {
    let provider = identity.provider
    let owner = try account(AccountIdentifier(kind: provider.id, value: provider.rawID))
    if let linking { return try link(identity, by: linking, owner: owner, token: token) }
    if let owner {
      guard !owner.isDisabled else { throw AccountError.disabledAccount }
      return .signedIn(try enter(owner, identity: identity, token: token) { _ in }, isNew: false)
    }
    let settings = try settings
    if !settings.allowsDuplicateEmails, let email = provider.email, let other = try account(.email(email)) {
      guard !other.isDisabled else { throw AccountError.disabledAccount }
      guard identity.isEmailVerified else { return .needsConfirmation(other) }
      let time = seconds
      let session = try enter(other, identity: identity, token: token) { record in
        if !record.isEmailVerified { record.dropUnproved(at: time) }
        record.isEmailVerified = true
        record.displayName = provider.displayName
        record.photoURL = provider.photoURL
      }
      return .signedIn(session, isNew: false)
    }
    guard settings.allowsSignUp else { throw AccountError.signUpDisabled }
    var record = newAccount(newUID, from: network)
    if !settings.allowsDuplicateEmails {
      record.email = provider.email
      record.isEmailVerified = provider.email != nil && identity.isEmailVerified
    }
    record.displayName = provider.displayName
    record.photoURL = provider.photoURL
    record.upsert(provider)
    stamp(&record, by: provider.id)
    try save(&record, from: nil)
    return .signedIn(try open(record, by: provider.id, token: token), isNew: true)
  }

  private func link(_ identity: ProvenIdentity, by linking: IDToken, owner: AccountRecord?, token: RefreshToken)
    throws -> ProviderOutcome
  {
    let before = try caller(linking)
    guard owner == nil else { throw AccountError.identityTaken }
    let provider = identity.provider
    let isOneEach = try !settings.allowsDuplicateEmails
    if isOneEach, let email = provider.email, let other = try account(.email(email)), other.uid != before.uid {
      throw AccountError.emailTaken
    }
    var record = before
    if isOneEach, let email = provider.email {
      if record.email == nil {
        record.email = email
        record.isEmailVerified = identity.isEmailVerified
      } else if record.email == email, identity.isEmailVerified {
        record.isEmailVerified = true
      }
    }
    record.upsert(provider)
    stamp(&record, by: provider.id)
    try save(&record, from: before)
    return .signedIn(try link(record, by: provider.id, of: linking, token: token), isNew: false)
  }

  /// Lets the player of an account that exists in, with the identity added or brought up to date.
  private func enter(
    _ before: AccountRecord, identity: ProvenIdentity, token: RefreshToken,
    edit: @escaping @Sendable (inout AccountRecord) -> Void
  ) throws -> AccountSession {
    let both: @Sendable (inout AccountRecord) -> Void = { record in
      edit(&record)
      record.upsert(identity.provider)
    }
    guard options.followsEmulator, !before.secondFactors.isEmpty else {
      return try enter(before, by: identity.provider.id, token: token, edit: both)
    }
    // Elsewhere nothing is changed before the second factor is shown.
    var record = before
    both(&record)
    try save(&record, from: before)
    return try enter(record, by: identity.provider.id, token: token) { _ in }
  }
}
