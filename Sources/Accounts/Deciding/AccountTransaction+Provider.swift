import Credentials
import StorageCore

extension AccountTransaction {
  /// The table of spec auth-protocol §2.4, cases 1 to 7.
  func signIn(_ identity: ProvenIdentity, linking: IDToken?, newUID: String, from address: String, _ token: RefreshToken)
    throws(AccountError) -> ProviderOutcome
  {
    let provider = identity.provider
    let owner = try account(AccountIdentifier(kind: provider.id, value: provider.rawID))
    if let linking { return try link(identity, by: linking, owner: owner, token) }
    if let owner {
      guard !owner.isDisabled else { throw AccountError("USER_DISABLED") }
      return .signedIn(try enter(owner, identity, token) { _ in }, isNew: false)
    }
    let settings = try settings
    if !settings.allowsDuplicateEmails, let email = provider.email, let other = try account(.email(email)) {
      guard !other.isDisabled else { throw AccountError("USER_DISABLED") }
      guard identity.isEmailVerified else { return .needsConfirmation(other) }
      let time = seconds
      let session = try enter(other, identity, token) { record in
        if !record.isEmailVerified { record.dropUnproved(at: time) }
        record.isEmailVerified = true
        record.displayName = provider.displayName
        record.photoURL = provider.photoURL
      }
      return .signedIn(session, isNew: false)
    }
    guard settings.allowsSignUp else { throw AccountError("ADMIN_ONLY_OPERATION") }
    var record = newAccount(newUID, from: address)
    if !settings.allowsDuplicateEmails {
      record.email = provider.email
      record.isEmailVerified = provider.email != nil && identity.isEmailVerified
    }
    record.displayName = provider.displayName
    record.photoURL = provider.photoURL
    record.upsert(provider)
    stamp(&record, by: provider.id)
    try save(record, from: nil)
    return .signedIn(try open(record, by: provider.id, token), isNew: true)
  }

  private func link(_ identity: ProvenIdentity, by linking: IDToken, owner: AccountRecord?, _ token: RefreshToken)
    throws(AccountError) -> ProviderOutcome
  {
    let before = try caller(linking)
    guard owner == nil else { throw AccountError("FEDERATED_USER_ID_ALREADY_LINKED") }
    let provider = identity.provider
    let isOneEach = try !settings.allowsDuplicateEmails
    if isOneEach, let email = provider.email, let other = try account(.email(email)), other.uid != before.uid {
      throw AccountError("EMAIL_EXISTS")
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
    try save(record, from: before)
    return .signedIn(try open(record, by: provider.id, of: linking, isRenewed: false, token), isNew: false)
  }

  /// Lets the player of an account that exists in, with the identity added or brought up to date.
  private func enter(
    _ before: AccountRecord, _ identity: ProvenIdentity, _ token: RefreshToken,
    _ edit: @escaping @Sendable (inout AccountRecord) -> Void
  ) throws(AccountError) -> AccountSession {
    try enter(before, by: identity.provider.id, token) { record in
      edit(&record)
      record.upsert(identity.provider)
    }
  }
}

/// What came of an identity.
enum ProviderOutcome: Sendable {
  case signedIn(AccountSession, isNew: Bool)
  /// The address is another account's, and the provider has not seen that it is this player's.
  case needsConfirmation(AccountRecord)
}
