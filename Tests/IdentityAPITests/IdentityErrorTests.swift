import Accounts
import Credentials
import Testing

@testable import IdentityAPI

/// The words of the protocol for whatever accounts refuse: clients compare them.
struct IdentityErrorTests {
  private static let tooMany =
    "TOO_MANY_ATTEMPTS_TRY_LATER : Access to this account has been temporarily disabled due to many failed login attempts. "
    + "Try again later, or reset the password."

  static let accounts: [(AccountError, String)] = [
    (.unknownAccount, "USER_NOT_FOUND"), (.disabledAccount, "USER_DISABLED"), (.emailTaken, "EMAIL_EXISTS"),
    (.phoneNumberTaken, "PHONE_NUMBER_EXISTS"), (.identityTaken, "FEDERATED_USER_ID_ALREADY_LINKED"),
    (.uidTaken, "DUPLICATE_LOCAL_ID"), (.noEmail, "MISSING_EMAIL"),
    (.notDisabled, "NOT_DISABLED : Disable the account before batch deletion."), (.missingIDToken, "MISSING_ID_TOKEN"),
    (.unknownTenant, "TENANT_NOT_FOUND"), (.tenantMismatch, "TENANT_ID_MISMATCH"), (.disabledTenant, "PROJECT_DISABLED"),
    (.notForTenants, "UNSUPPORTED_TENANT_OPERATION"), (.emailLinksDisabled, "OPERATION_NOT_ALLOWED"),
    (.providerConfigurationTaken, "CONFIGURATION_EXISTS : There is a configuration of this name."),
    (.invalidIdentity(.disabledProvider), "OPERATION_NOT_ALLOWED : The identity provider configuration is disabled."),
    (.invalidIDToken, "INVALID_ID_TOKEN"), (.expiredToken, "TOKEN_EXPIRED"), (.invalidRefreshToken, "INVALID_REFRESH_TOKEN"),
    (.signInTooOld, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"), (.invalidCookieDuration, "INVALID_DURATION"),
    (.invalidCustomToken(.invalid("Why.")), "INVALID_CUSTOM_TOKEN : Why."),
    (.invalidCustomToken(.missingIdentifier), "MISSING_IDENTIFIER"),
    (.invalidCustomToken(.forbiddenClaim("sub")), "FORBIDDEN_CLAIM : sub"), (.unknownEmail, "EMAIL_NOT_FOUND"),
    (.wrongPassword, "INVALID_PASSWORD"), (.wrongCredentials, "INVALID_LOGIN_CREDENTIALS"),
    (.passwordSignInDisabled, "PASSWORD_LOGIN_DISABLED"), (.passwordsDisabled, "OPERATION_NOT_ALLOWED"),
    (.signUpDisabled, "ADMIN_ONLY_OPERATION"), (.passwordTooShort, "WEAK_PASSWORD : Password should be at least 6 characters"),
    (.passwordTooLong, "WEAK_PASSWORD : Password should be at most 4096 bytes"),
    (
      .unmetPasswordRequirements([.atLeast(8), .atMost(9), .lowerCase, .upperCase, .digit, .symbol]),
      "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: [Password must contain at least 8 characters, "
        + "Password may contain at most 9 characters, Password must contain a lower case character, "
        + "Password must contain an upper case character, Password must contain a numeric character, "
        + "Password must contain a non-alphanumeric character]"
    ), (.tooManyFailures, tooMany),
    (
      .tooManyPasswords, "TOO_MANY_ATTEMPTS_TRY_LATER : Too many passwords were tried from this address. Try again in a moment."
    ), (.tooManyCodes, "RESET_PASSWORD_EXCEED_LIMIT"), (.concurrentChange, "TOO_MANY_ATTEMPTS_TRY_LATER : Try again."),
  ]

  static let credentials: [(AccountError, String)] = [
    (.invalidCode, "INVALID_OOB_CODE"), (.expiredCode, "EXPIRED_OOB_CODE"),
    (.wrongCodeEmail, "INVALID_EMAIL : The email provided does not match the sign-in email address."),
    (.unauthorizedDomain, "UNAUTHORIZED_DOMAIN : The domain is not among those that this server is configured with."),
    (.unknownServerAddress, "OPERATION_NOT_ALLOWED : The server does not know its own address, which links would lead to."),
    (.unverifiedEmailChange, "OPERATION_NOT_ALLOWED : Please verify the new email before changing email."),
    (.phonesUnavailable, "OPERATION_NOT_ALLOWED : Sign-in by telephone is not set up on this server."),
    (
      .phoneIsSecondFactor,
      "UNSUPPORTED_FIRST_FACTOR : A phone number cannot be set as a first factor on an SMS based MFA user."
    ), (.unknownCodeSession, "INVALID_SESSION_INFO"), (.expiredCodeSession, "SESSION_EXPIRED"),
    (.wrongOneTimeCode, "INVALID_CODE"), (.invalidPhoneProof, "INVALID_TEMPORARY_PROOF"),
    (.unsupportedFirstFactor, "UNSUPPORTED_FIRST_FACTOR : MFA is not available for the given first factor."),
    (.unverifiedEmail, "UNVERIFIED_EMAIL : Need to verify email first before enrolling second factors."),
    (.tooManySecondFactors, "SECOND_FACTOR_LIMIT_EXCEEDED"),
    (.secondFactorTaken, "SECOND_FACTOR_EXISTS : Phone number already enrolled as second factor for this account."),
    (.unknownSecondFactor, "MFA_ENROLLMENT_NOT_FOUND"), (.duplicateSecondFactorID, "DUPLICATE_MFA_ENROLLMENT_ID"),
    (.invalidPendingCredential, "INVALID_MFA_PENDING_CREDENTIAL"),
    (.phoneFactorsDisabled, "OPERATION_NOT_ALLOWED : SMS based MFA not enabled."),
    (.authenticatorsDisabled, "OPERATION_NOT_ALLOWED : TOTP based MFA not enabled."),
    (.notATelephone, "INVALID_ARGUMENT : ((Only a telephone is sent a code.))"),
    (.missingAuthenticatorSecret, "An authenticator is enrolled by its player; what was exported bears sharedSecretKey."),
    (.invalidIdentity(.unreadable("x")), "INVALID_IDP_RESPONSE : Unable to parse id_token: x"),
    (.invalidIdentity(.unreadable(nil)), "INVALID_IDP_RESPONSE : Unable to parse id_token."),
    (
      .invalidIdentity(.missingIDToken),
      "INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: an id_token is needed."
    ), (.invalidIdentity(.token(.badSignature)), "INVALID_IDP_RESPONSE : The token's signature does not fit."),
    (
      .invalidIdentity(.token(.wrongNonce)),
      "MISSING_OR_INVALID_NONCE : The token's nonce is missing, or not the one that was asked for."
    ), (.importedAccountExists, "localId belongs to an existing account - can not overwrite."),
    (.importedEmailTaken, "email exists in other account in database"),
    (.importedPhoneNumberTaken, "((duplicated phone number in database))"),
    (.importedIdentityTaken, "raw id exists in other account in database"),
    (.importedFactorsNeedEmail, "Second factor account requires email to be presented."),
    (.importedFactorsNeedVerifiedEmail, "Second factor account requires email to be verified."),
  ]

  @Test("each refusal has its code and its sentence, and is a 400", arguments: accounts + credentials)
  func words(error: AccountError, message: String) {
    #expect(IdentityError(error).message == message)
    #expect(IdentityError(error).status == 400)
  }

  @Test("what says how a provider's answer must look names the field, the setting or the form")
  func sentences() {
    for (problem, code, hint) in [
      (.missingSubject, "INVALID_IDP_RESPONSE", "sub"), (.opaqueAccessToken, "INVALID_IDP_RESPONSE", "access_token"),
      (.unknownProvider, "OPERATION_NOT_ALLOWED", "accounts.providers"),
    ] as [(AccountError.IdentityProblem, String, String)] {
      let error = IdentityError(AccountError.invalidIdentity(problem))
      #expect(error.code == code && error.message.contains(hint), "\(error.message)")
    }
  }

  @Test("what does not work now is a 503, and what cannot be done at all a 400 with Google's status")
  func unavailable() {
    let unavailable = IdentityError(AccountError.unavailable("The disk is full."))
    #expect(unavailable.status == 503 && unavailable.message == "The disk is full." && unavailable.statusName == "UNAVAILABLE")
    let rejected = IdentityError(AccountError.rejected("Too large."))
    #expect(rejected.status == 400 && rejected.statusName == "INVALID_ARGUMENT" && rejected.message == "Too large.")
  }

  @Test("claims and hashes that an administrator sends are refused in their own words")
  func administrators() {
    #expect(IdentityError(ClaimsError.tooLarge).message == "CLAIMS_TOO_LARGE")
    #expect(IdentityError(ClaimsError.invalid).message == "INVALID_CLAIMS")
    #expect(IdentityError(ClaimsError.forbidden("iss")).message == "FORBIDDEN_CLAIM : iss")
    #expect(IdentityError(PasswordImportError.missingAlgorithm).message == "MISSING_HASH_ALGORITHM")
    #expect(IdentityError(PasswordImportError.unknownAlgorithm("ROT13")).message == "INVALID_HASH_ALGORITHM : ROT13")
    #expect(IdentityError(PasswordImportError.badParameter("rounds")).message == "INVALID_HASH_PARAMETERS : rounds")
    #expect(IdentityError(PasswordImportError.badHash).code == "INVALID_PASSWORD_HASH")
  }
}
