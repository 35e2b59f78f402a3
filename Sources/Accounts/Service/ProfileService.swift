import Credentials
package import StorageCore
package import TreeModel

/// A change that players make to their own accounts.
package struct ProfileUpdate: Sendable {
  /// The player's ID token.
  package let idToken: String
  /// The address to be set.
  package var email: EmailAddress?
  /// Whether every token that was issued before becomes void.
  package var isRevoking = false
  package var edits: AccountEdits

  package init(idToken: String, edits: AccountEdits = AccountEdits()) {
    self.idToken = idToken
    self.edits = edits
  }
}

/// An account that was changed.
package struct UpdatedAccount: Sendable {
  package let account: AccountRecord
  /// The address, if the change set another one.
  package var newEmail: String?
  /// What the player goes on with; nil where the tokens from before are still good.
  package var result: SignInResult?
}

/// What players do with their own accounts: change them, look at them, delete them.
package struct ProfileService: Sendable {
  private let accounts: AccountService

  init(_ accounts: AccountService) {
    self.accounts = accounts
  }

  /// Refuses an ID token that was not issued here; whether it is still good for the account is decided with what it is for.
  package func check(idToken: String, of project: AccountProject) throws {
    _ = try accounts.verified(idToken, of: project)
  }

  /// The account that an ID token stands for.
  package func account(idToken: String?, of project: AccountProject) throws -> AccountRecord {
    guard let token = try accounts.caller(idToken, of: project) else { throw AccountError.missingIDToken }
    return try accounts.account(of: token, in: project)
  }

  /// Deletes the account that an ID token stands for.
  package func delete(idToken: String?, of project: AccountProject) async throws {
    guard let token = try accounts.caller(idToken, of: project) else { throw AccountError.missingIDToken }
    let options = accounts.options
    try await accounts.change(project, by: .user(uid: token.uid)) { transaction in
      let record = try transaction.caller(token)
      try AccountRules.checkRecent(token, account: record, options: options, at: transaction.time)
      try transaction.delete(record)
    }
  }

  /// Changes the account that an ID token stands for.
  package func update(_ update: ProfileUpdate, _ context: AccountContext) async throws -> UpdatedAccount {
    guard let token = try accounts.caller(update.idToken, of: context.project) else { throw AccountError.missingIDToken }
    let settings = try accounts.settings(of: context.project)
    let seen = try accounts.account(of: token, in: context.project)
    let email = update.email?.text
    let changesEmail = email != nil && email != seen.email
    if changesEmail || update.edits.password != nil {
      try AccountRules.checkRecent(token, account: seen, options: accounts.options, at: accounts.clock.now())
    }
    if let email, changesEmail {
      // Where it is secret which addresses have accounts, another one is set by its link only; a first one may be set freely.
      guard seen.secondFactors.isEmpty, !settings.hidesAddresses || seen.email == nil else {
        throw AccountError.unverifiedEmailChange
      }
      if !settings.allowsDuplicateEmails, let owner = try accounts.account(.email(email), of: context.project),
        owner.uid != seen.uid
      {
        throw AccountError.emailTaken
      }
    }
    var hash: String?
    if let password = update.edits.password {
      try settings.passwordPolicy.check(password)
      hash = try await accounts.hash(password, of: seen.uid, for: context)
    }
    var recovery: PreparedCode?
    if changesEmail, token.provider != "anonymous", let old = seen.email, seen.initialEmail == nil {
      try accounts.emailCodes.throttle(to: old, context: context)
      recovery = accounts.emailCodes.prepare(
        IssuedCode(.recoverEmail, email: old, uid: seen.uid, displayName: seen.displayName), context: context)
    }
    let change = Change(
      token: token, seenEmail: seen.email, email: email, passwordHash: hash, isRevoking: update.isRevoking,
      edits: update.edits, recovery: recovery)
    return try await carryOut(change, context: context)
  }

  private struct Change: Sendable {
    let token: IDToken
    let seenEmail: String?
    let email: String?
    let passwordHash: String?
    let isRevoking: Bool
    let edits: AccountEdits
    /// The code that takes a change of address back.
    let recovery: PreparedCode?
  }

  private func carryOut(_ own: Change, context: AccountContext) async throws -> UpdatedAccount {
    let refreshToken = accounts.newRefreshToken()
    let grace = accounts.options.revocationGrace
    let (before, session, record) = try await accounts.change(
      context.project, by: .user(uid: own.token.uid), outbox: own.recovery?.outbox ?? []
    ) { transaction -> (AccountRecord, AccountSession?, AccountRecord) in
      let before = try transaction.caller(own.token)
      // The letter is for the address that was seen.
      guard before.email == own.seenEmail else { throw AccountError.concurrentChange }
      var record = before
      if let email = own.email, email != before.email {
        guard before.secondFactors.isEmpty else { throw AccountError.unverifiedEmailChange }
        record.email = email
        record.isEmailVerified = false
        record.signsInByLink = false
        record.validSince = transaction.seconds
      }
      if let hash = own.passwordHash { transaction.setPassword(hash, of: &record) }
      if own.isRevoking { record.validSince = transaction.seconds }
      own.edits.apply(to: &record)
      if let recovery = own.recovery {
        record.initialEmail = before.email
        transaction.put(.code(recovery.record))
      }
      let provider = own.passwordHash != nil && record.email != nil ? "password" : own.token.provider
      // Not by comparing validSince: two changes may fall into one second.
      let changesEmail = own.email != nil && own.email != before.email
      let isNewSession = changesEmail || own.passwordHash != nil || own.isRevoking
      let opens = isNewSession && record.validSince != nil && !provider.isEmpty
      if opens { transaction.stamp(&record, by: provider) }
      try transaction.save(&record, from: before, isByOwner: true, grace: grace, isRevoking: own.isRevoking)
      guard opens else { return (before, nil, record) }
      let isRenewed = changesEmail || own.passwordHash != nil
      let session = try transaction.open(
        record, by: provider, of: own.token, isRenewed: isRenewed, token: refreshToken)
      return (before, session, record)
    }
    if let recovery = own.recovery { accounts.emailCodes.announce(recovery, context: context) }
    return UpdatedAccount(
      account: record, newEmail: record.email == before.email ? nil : record.email,
      result: try session.map { try accounts.result(of: $0, in: context.project) })
  }
}
