package import Credentials
import StorageCore

/// Why something that was asked about accounts was not done. Nothing was changed.
///
/// Surfaces choose a status and a wire code for each case; nothing here knows them.
package enum AccountError: Error, Sendable, Hashable {
  // MARK: Accounts

  /// There is no such account, or it was deleted.
  case unknownAccount
  /// Nobody may sign in to the account.
  case disabledAccount
  /// The address leads to another account.
  case emailTaken
  /// The number leads to another account.
  case phoneNumberTaken
  /// The identity at a provider leads to another account.
  case identityTaken
  /// There is an account with this uid.
  case uidTaken
  /// The account has no address.
  case noEmail
  /// Only a disabled account may be deleted together with others.
  case notDisabled

  // MARK: Tenants

  /// There is no such tenant, or it is being deleted.
  case unknownTenant
  /// What was shown belongs to another tenant, or to none.
  case tenantMismatch
  /// Nobody can do anything with the tenant's accounts.
  case disabledTenant
  /// The project has no tenants until its configuration says so.
  case tenantsOff
  /// Tenants do not have what was asked for.
  case notForTenants
  /// A tenant's players do not sign in by links in mails.
  case emailLinksDisabled
  /// There is a provider's configuration of this name.
  case providerConfigurationTaken
  /// There is no provider's configuration of this name.
  case unknownProviderConfiguration

  // MARK: Tokens and sessions

  /// What was asked needs a player's ID token.
  case missingIDToken
  /// The ID token was not issued here, or not for this project.
  case invalidIDToken
  /// The token's time is over, or a change of the account made it void.
  case expiredToken
  /// The refresh token stands for no session.
  case invalidRefreshToken
  /// The last sign-in is too long ago for what was asked.
  case signInTooOld
  case invalidCustomToken(CustomTokenError)
  /// A session cookie cannot be good for so long, or so short.
  case invalidCookieDuration

  // MARK: Passwords

  /// No account has the address.
  case unknownEmail
  case wrongPassword
  /// The address or the password is wrong; which of them is not said.
  case wrongCredentials
  /// The project lets nobody sign in by a password.
  case passwordSignInDisabled
  /// The project lets nobody set a password.
  case passwordsDisabled
  /// Only administrators may make accounts.
  case signUpDisabled
  /// Shorter than any policy allows.
  case passwordTooShort
  /// Longer than can be hashed.
  case passwordTooLong
  /// What the project's policy asks for and the password has not.
  case unmetPasswordRequirements([PasswordPolicy.Requirement])

  // MARK: Limits

  /// Too many wrong passwords or codes for this account from this network.
  case tooManyFailures
  /// Too many passwords from this network.
  case tooManyPasswords
  /// Too many mailed codes, from this network or to this address.
  case tooManyCodes
  /// The account was changed between looking and deciding.
  case concurrentChange

  // MARK: Mailed codes

  /// No such code, or one for something else.
  case invalidCode
  case expiredCode
  /// The code was mailed to another address.
  case wrongCodeEmail
  /// Links may not lead on to this domain.
  case unauthorizedDomain
  /// Links could not lead back here: the server's own address is not configured.
  case unknownServerAddress
  /// The address may only be changed by a link that was mailed to the new one.
  case unverifiedEmailChange

  // MARK: Telephones

  /// No text messages are sent from here.
  case phonesUnavailable
  /// A telephone alone does not open an account that has second factors.
  case phoneIsSecondFactor
  /// The session that a code was sent for is not known.
  case unknownCodeSession
  case expiredCodeSession
  /// The code is not the one that was sent, or that the authenticator shows.
  case wrongOneTimeCode
  /// The proof of owning a number is not known, or its time is over.
  case invalidPhoneProof

  // MARK: Second factors

  /// A first credential beside which no second factor can be asked for.
  case unsupportedFirstFactor
  /// Second factors need an address that was confirmed.
  case unverifiedEmail
  case tooManySecondFactors
  /// The number is a second factor of the account already.
  case secondFactorTaken
  case unknownSecondFactor
  /// Two second factors have the same id.
  case duplicateSecondFactorID
  /// The credential that waits for a second factor is not known, or its time is over.
  case invalidPendingCredential
  /// The project lets nobody enrol a telephone.
  case phoneFactorsDisabled
  /// The project lets nobody enrol an authenticator.
  case authenticatorsDisabled
  /// Only a telephone is sent a code.
  case notATelephone
  /// An authenticator without its secret.
  case missingAuthenticatorSecret

  // MARK: Identities at providers

  /// Why an identity that a client claims is not believed.
  package enum IdentityProblem: Sendable, Hashable {
    /// Neither JSON nor a token; the text is its beginning.
    case unreadable(String?)
    /// It does not say whose it is (`sub`).
    case missingSubject
    /// An ID token is needed.
    case missingIDToken
    /// An access token that is not JSON text, in development.
    case opaqueAccessToken
    /// The provider is not configured.
    case unknownProvider
    /// The provider is configured, and switched off.
    case disabledProvider
    /// The ID token does not hold.
    case token(TokenError)
  }

  case invalidIdentity(IdentityProblem)

  // MARK: Decisions of the deployment

  /// A function of the deployment does not let it happen; the text is the function's, for the player.
  case refusedByDecision(String)
  /// A function of the deployment that has to be asked decided nothing: it failed, or took too long. The text may be shown.
  case decisionFailed(String)

  // MARK: Imports

  /// The row's account exists, and the import does not overwrite.
  case importedAccountExists
  /// The row's address is another account's.
  case importedEmailTaken
  /// The row's number is another account's.
  case importedPhoneNumberTaken
  /// The row's identity at a provider is another account's.
  case importedIdentityTaken
  /// A row with second factors needs an address.
  case importedFactorsNeedEmail
  /// A row with second factors needs a confirmed address.
  case importedFactorsNeedVerifiedEmail

  // MARK: -

  /// The store, or something else that is needed, does not work now; the text may be shown.
  case unavailable(String)

  /// The change cannot be committed, whatever the accounts say: it is too large, or causes too much. The text may be shown.
  case rejected(String)

  init(_ error: StorageError) {
    self = .unavailable(error.message)
  }

  /// What the writer refused.
  init(_ error: CommitError) {
    switch error.code {
    case .overloaded, .unavailable: self = .unavailable(error.message)
    default: self = .rejected(error.message)
    }
  }
}
