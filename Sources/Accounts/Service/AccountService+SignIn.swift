import Credentials
import StorageCore
package import TreeModel

/// An account with an address and a password that a player makes, or that an anonymous account becomes.
package struct PasswordSignUp: Sendable {
  package let email: EmailAddress
  package let password: String
  package var displayName: String?
  /// The ID token of the account that gets the address; nil for a new account.
  package var idToken: String?
  /// Second factors of a new account: in development only.
  package var secondFactors: [SecondFactorDraft] = []

  package init(email: EmailAddress, password: String) {
    self.email = email
    self.password = password
  }
}

/// How the owner of an address signs in.
package struct SignInMethods: Sendable, Hashable {
  /// Whether an account has the address.
  package let isRegistered: Bool
  /// The identities of that account, by the names of their providers.
  package let providers: [String]
  package let hasPassword: Bool
  package let signsInByLink: Bool
  /// Providers by which the account can be signed in to.
  package let identityProviders: [String]
}

extension AccountService {
  // MARK: Signing up

  /// Makes an anonymous account.
  package func signUpAnonymously(_ context: AccountContext) async throws -> SignedInAccount {
    let settings = try settings(of: context.project)
    guard settings.allowsAnonymous, settings.allowsSignUp else { throw AccountError.signUpDisabled }
    try throttle.countSignUp(from: context.network, at: clock.now())
    let uid = newUID()
    let token = newRefreshToken()
    let session = try await change(by: .user(uid: uid), askingFor: context) { transaction in
      var record = transaction.newAccount(uid, from: context.network)
      transaction.stamp(&record, by: "anonymous")
      try transaction.save(&record, from: nil)
      return try transaction.open(record, by: "anonymous", token: token)
    }
    return try signedIn(session, isNew: true, in: context.project)
  }

  /// Makes an account with a password, or gives the caller's account one.
  package func signUp(_ order: PasswordSignUp, _ context: AccountContext) async throws -> SignedInAccount {
    let settings = try settings(of: context.project)
    guard settings.allowsPasswords else { throw AccountError.passwordsDisabled }
    let email = order.email.text
    let owner = try account(.email(email), of: context.project)
    // Of a token only the signature is looked at here: whether it is still good is decided with the rest, but for the
    // repetition of a link whose answer was lost. That one brings the token from before the link.
    if let owner, !settings.allowsDuplicateEmails {
      guard let token = try caller(order.idToken, of: context.project), token.uid == owner.uid else {
        throw AccountError.emailTaken
      }
      if owner.password != nil { return try await repeatLink(of: owner, password: order.password, context: context) }
    }
    try settings.passwordPolicy.check(order.password)
    let linking = try caller(order.idToken, of: context.project)
    if let linking {
      // Before the hash, which is expensive; decided once more on the writer.
      let seen = try account(of: linking, in: context.project)
      try AccountRules.checkRecent(linking, account: seen, options: options, at: clock.now())
      guard seen.secondFactors.isEmpty || seen.email == email else { throw AccountError.unverifiedEmailChange }
    } else {
      guard settings.allowsSignUp else { throw AccountError.signUpDisabled }
      try throttle.countSignUp(from: context.network, at: clock.now())
    }
    let hash = try await hash(order.password, of: email, for: context)
    // Emulators take second factors from anybody; tests of games make their players so.
    let given = options.isDevelopment && linking == nil ? order.secondFactors : []
    let factors = try SecondFactorDraft.checked(given, newID: newUID)
    let uid = linking?.uid ?? newUID()
    let refreshToken = newRefreshToken()
    let grace = options.revocationGrace
    let session = try await change(by: .user(uid: uid), askingFor: context) { transaction in
      let before: AccountRecord? = if let linking { try transaction.caller(linking) } else { nil }
      var record = before ?? transaction.newAccount(uid, from: context.network)
      if record.email != email {
        guard record.secondFactors.isEmpty else { throw AccountError.unverifiedEmailChange }
        record.isEmailVerified = false
      }
      record.email = email
      record.displayName = order.displayName ?? record.displayName
      for draft in factors { record.secondFactors.append(try draft.factor(beside: [], at: transaction.time)) }
      transaction.setPassword(hash, of: &record)
      transaction.stamp(&record, by: "password")
      try transaction.save(&record, from: before, isByOwner: true, grace: grace)
      guard let linking else { return try transaction.open(record, by: "password", token: refreshToken) }
      return try transaction.open(record, by: "password", of: linking, isRenewed: true, token: refreshToken)
    }
    return try signedIn(session, isNew: linking == nil, in: context.project)
  }

  /// A link whose first answer was lost: the address is the caller's own, and the password is right. So it is a sign-in.
  private func repeatLink(of owner: AccountRecord, password: String, context: AccountContext) async throws
    -> SignedInAccount
  {
    guard !owner.isDisabled else { throw AccountError.disabledAccount }
    let key = context.project.limitKey(owner.email ?? owner.uid)
    try throttle.checkAttempt(key, from: context.network, at: clock.now())
    guard case .right = try await check(password, against: owner.password, of: key, for: context) else {
      throttle.noteFailure(key, from: context.network, at: clock.now())
      throw AccountError.emailTaken
    }
    return try signedIn(try await openSession(of: owner, context: context), in: context.project)
  }

  // MARK: Signing in

  /// Signs in by an address and a password.
  package func signIn(email: EmailAddress, password: String, context: AccountContext) async throws -> SignedInAccount {
    let email = email.text
    let settings = try settings(of: context.project)
    guard settings.allowsPasswords else { throw AccountError.passwordSignInDisabled }
    let key = context.project.limitKey(email)
    try throttle.checkAttempt(key, from: context.network, at: clock.now())
    let record = try account(.email(email), of: context.project)
    if !settings.hidesAddresses, record?.isDisabled == true { throw AccountError.disabledAccount }
    let verdict = try await check(password, against: record?.password, of: email, for: context)
    guard let record, case .right(let isOutdated) = verdict else {
      throttle.noteFailure(key, from: context.network, at: clock.now())
      guard !settings.hidesAddresses else { throw AccountError.wrongCredentials }
      throw record == nil ? AccountError.unknownEmail : .wrongPassword
    }
    if record.isDisabled { throw AccountError.disabledAccount }
    throttle.noteSuccess(key, from: context.network)
    // A hash from elsewhere, or a cheaper one, is made again now that the password is known.
    let upgraded = isOutdated ? await upgraded(password, of: email, for: context) : nil
    return try signedIn(try await openSession(of: record, context: context, upgradedPassword: upgraded), in: context.project)
  }

  /// Begins a session of an account whose password was checked.
  ///
  /// - `seen`: the account as it was looked at: if its password is another by now, the check says nothing.
  private func openSession(of seen: AccountRecord, context: AccountContext, upgradedPassword: String? = nil) async throws
    -> AccountSession
  {
    let token = newRefreshToken()
    return try await change(by: .user(uid: seen.uid), askingFor: context) { transaction in
      guard let before = try transaction.account(seen.uid) else { throw AccountError.unknownAccount }
      guard !before.isDisabled else { throw AccountError.disabledAccount }
      guard before.password == seen.password else { throw AccountError.wrongCredentials }
      return try transaction.enter(before, by: "password", token: token) { record in
        if let upgradedPassword { record.password = upgradedPassword }
      }
    }
  }

  /// Signs in by a token that the studio's own server signed.
  package func signIn(customToken text: String, context: AccountContext) async throws -> SignedInAccount {
    let custom = try customToken(text)
    // A token that somebody wrote as JSON for a test need not name the tenant at which it is used.
    let isAnywhere = options.followsEmulator && custom.tenant == nil && custom.isWrittenByHand
    guard isAnywhere || context.project.scope.admits(custom.tenant) else { throw AccountError.tenantMismatch }
    let claims = custom.claims.object?.isEmpty == false ? custom.claims.compactText : nil
    let token = newRefreshToken()
    let (session, isNew) = try await change(by: .user(uid: custom.uid), askingFor: context) { transaction in
      let before = try transaction.account(custom.uid)
      if before?.isDisabled == true { throw AccountError.disabledAccount }
      var record = before ?? transaction.newAccount(custom.uid, from: context.network)
      record.isCustom = true
      transaction.stamp(&record, by: "custom")
      try transaction.save(&record, from: before)
      return (try transaction.open(record, by: "custom", extra: claims, token: token), before == nil)
    }
    return try signedIn(session, isNew: isNew, in: context.project)
  }

  private func customToken(_ text: String) throws -> CustomToken {
    do throws(CustomTokenError) {
      if options.isDevelopment { return try CustomToken(unverified: text) }
      return try CustomToken(text, at: clock.now()) { identities.serviceAccountKey($0, id: $1) }
    } catch {
      throw AccountError.invalidCustomToken(error)
    }
  }

  /// How the owner of an address signs in; nil where it is kept secret.
  package func signInMethods(of email: EmailAddress, in project: AccountProject) throws -> SignInMethods? {
    let settings = try settings(of: project)
    guard !settings.hidesAddresses else { return nil }
    let known = try account(.email(email.text), of: project)
    let record = try known ?? (options.followsEmulator ? account(knownByProviderAs: email.text, of: project) : nil)
    // Where several accounts may have an address, an identity leads to nobody: it says which of them comes.
    let isOneEach = !settings.allowsDuplicateEmails
    return SignInMethods(
      isRegistered: record.map { !isOneEach || !$0.providerIDs.isEmpty } ?? false,
      providers: (record?.providerIDs ?? []).filter { $0 == "password" || (isOneEach && $0 != "phone") },
      hasPassword: record?.password != nil, signsInByLink: record?.signsInByLink == true,
      identityProviders: isOneEach ? (record?.providers ?? []).map(\.id) : [])
  }

  /// The account whose identity at a provider has an address, as emulators find it; ten thousand accounts are looked through.
  private func account(knownByProviderAs email: String, of project: AccountProject) throws -> AccountRecord? {
    let page = try read { snapshot in
      try snapshot.page(of: project.scope, in: project.namespace, after: nil, limit: 10_000)
    }
    return page.accounts.first { $0.providers.contains { $0.email == email } }
  }
}
