@testable import Accounts

/// The cases of `AccountError` and of the problems that it carries, without what they carry.
///
/// A new case of the error does not compile until it is named here, and then not until ``Provocation/of(_:)`` says how it is
/// brought about.
enum AccountErrorKind: String, CaseIterable {
  case unknownAccount, disabledAccount, emailTaken, phoneNumberTaken, identityTaken, uidTaken, noEmail, notDisabled
  case unknownTenant, tenantMismatch, disabledTenant, tenantsOff, notForTenants, emailLinksDisabled
  case providerConfigurationTaken, unknownProviderConfiguration, disabledProvider
  case missingIDToken, invalidIDToken, expiredToken, invalidRefreshToken, signInTooOld, invalidCustomToken
  case invalidCookieDuration
  case unknownEmail, wrongPassword, wrongCredentials, passwordSignInDisabled, passwordsDisabled, signUpDisabled
  case passwordTooShort, passwordTooLong, unmetPasswordRequirements
  case tooManyFailures, tooManyPasswords, tooManyCodes, concurrentChange
  case invalidCode, expiredCode, wrongCodeEmail, unauthorizedDomain, unknownServerAddress, unverifiedEmailChange
  case phonesUnavailable, phoneIsSecondFactor, unknownCodeSession, expiredCodeSession, wrongOneTimeCode, invalidPhoneProof
  case unsupportedFirstFactor, unverifiedEmail, tooManySecondFactors, secondFactorTaken, unknownSecondFactor
  case duplicateSecondFactorID, invalidPendingCredential, phoneFactorsDisabled, authenticatorsDisabled, notATelephone
  case missingAuthenticatorSecret
  case unreadableIdentity, identityWithoutSubject, identityWithoutIDToken, opaqueAccessToken, unknownProvider
  case invalidIdentityToken
  case importedAccountExists, importedEmailTaken, importedPhoneNumberTaken, importedIdentityTaken
  case importedFactorsNeedEmail, importedFactorsNeedVerifiedEmail
  case refusedByDecision, decisionFailed
  case unavailable, rejected

  init(_ error: AccountError) {
    self =
      switch error {
      case .unknownAccount: .unknownAccount
      case .disabledAccount: .disabledAccount
      case .emailTaken: .emailTaken
      case .phoneNumberTaken: .phoneNumberTaken
      case .identityTaken: .identityTaken
      case .uidTaken: .uidTaken
      case .noEmail: .noEmail
      case .notDisabled: .notDisabled
      case .unknownTenant, .tenantMismatch, .disabledTenant, .tenantsOff, .notForTenants, .emailLinksDisabled,
        .providerConfigurationTaken, .unknownProviderConfiguration:
        Self.tenant(error)
      case .missingIDToken: .missingIDToken
      case .invalidIDToken: .invalidIDToken
      case .expiredToken: .expiredToken
      case .invalidRefreshToken: .invalidRefreshToken
      case .signInTooOld: .signInTooOld
      case .invalidCustomToken: .invalidCustomToken
      case .invalidCookieDuration: .invalidCookieDuration
      case .unknownEmail: .unknownEmail
      case .wrongPassword: .wrongPassword
      case .wrongCredentials: .wrongCredentials
      case .passwordSignInDisabled: .passwordSignInDisabled
      case .passwordsDisabled: .passwordsDisabled
      case .signUpDisabled: .signUpDisabled
      case .passwordTooShort: .passwordTooShort
      case .passwordTooLong: .passwordTooLong
      case .unmetPasswordRequirements: .unmetPasswordRequirements
      case .tooManyFailures: .tooManyFailures
      case .tooManyPasswords: .tooManyPasswords
      case .tooManyCodes: .tooManyCodes
      case .concurrentChange: .concurrentChange
      case .invalidCode: .invalidCode
      case .expiredCode: .expiredCode
      case .wrongCodeEmail: .wrongCodeEmail
      case .unauthorizedDomain: .unauthorizedDomain
      case .unknownServerAddress: .unknownServerAddress
      case .unverifiedEmailChange: .unverifiedEmailChange
      case .phonesUnavailable: .phonesUnavailable
      case .phoneIsSecondFactor: .phoneIsSecondFactor
      case .unknownCodeSession: .unknownCodeSession
      case .expiredCodeSession: .expiredCodeSession
      case .wrongOneTimeCode: .wrongOneTimeCode
      case .invalidPhoneProof: .invalidPhoneProof
      case .invalidIdentity(let problem): Self(problem)
      case .refusedByDecision: .refusedByDecision
      case .decisionFailed: .decisionFailed
      case .unavailable: .unavailable
      case .rejected: .rejected
      case .unsupportedFirstFactor, .unverifiedEmail, .tooManySecondFactors, .secondFactorTaken, .unknownSecondFactor,
        .duplicateSecondFactorID, .invalidPendingCredential, .phoneFactorsDisabled, .authenticatorsDisabled, .notATelephone,
        .missingAuthenticatorSecret, .importedAccountExists, .importedEmailTaken, .importedPhoneNumberTaken,
        .importedIdentityTaken, .importedFactorsNeedEmail, .importedFactorsNeedVerifiedEmail:
        Self.factorOrImport(error)
      }
  }

  private static func tenant(_ error: AccountError) -> AccountErrorKind {
    switch error {
    case .unknownTenant: .unknownTenant
    case .tenantMismatch: .tenantMismatch
    case .disabledTenant: .disabledTenant
    case .tenantsOff: .tenantsOff
    case .notForTenants: .notForTenants
    case .emailLinksDisabled: .emailLinksDisabled
    case .providerConfigurationTaken: .providerConfigurationTaken
    case .unknownProviderConfiguration: .unknownProviderConfiguration
    default: preconditionFailure("\(error) is not of tenants.")
    }
  }

  private static func factorOrImport(_ error: AccountError) -> AccountErrorKind {
    switch error {
    case .unsupportedFirstFactor: .unsupportedFirstFactor
    case .unverifiedEmail: .unverifiedEmail
    case .tooManySecondFactors: .tooManySecondFactors
    case .secondFactorTaken: .secondFactorTaken
    case .unknownSecondFactor: .unknownSecondFactor
    case .duplicateSecondFactorID: .duplicateSecondFactorID
    case .invalidPendingCredential: .invalidPendingCredential
    case .phoneFactorsDisabled: .phoneFactorsDisabled
    case .authenticatorsDisabled: .authenticatorsDisabled
    case .notATelephone: .notATelephone
    case .missingAuthenticatorSecret: .missingAuthenticatorSecret
    case .importedAccountExists: .importedAccountExists
    case .importedEmailTaken: .importedEmailTaken
    case .importedPhoneNumberTaken: .importedPhoneNumberTaken
    case .importedIdentityTaken: .importedIdentityTaken
    case .importedFactorsNeedEmail: .importedFactorsNeedEmail
    case .importedFactorsNeedVerifiedEmail: .importedFactorsNeedVerifiedEmail
    default: preconditionFailure("\(error) is neither of second factors nor of imports.")
    }
  }

  private init(_ problem: AccountError.IdentityProblem) {
    self =
      switch problem {
      case .unreadable: .unreadableIdentity
      case .missingSubject: .identityWithoutSubject
      case .missingIDToken: .identityWithoutIDToken
      case .opaqueAccessToken: .opaqueAccessToken
      case .unknownProvider: .unknownProvider
      case .disabledProvider: .disabledProvider
      case .token: .invalidIdentityToken
      }
  }
}
