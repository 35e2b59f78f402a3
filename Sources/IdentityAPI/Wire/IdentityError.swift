import Accounts
import Credentials

/// Why a call was refused, in the Identity Toolkit's own words: a code, and after ` : ` a sentence.
///
/// Clients compare codes, so they are those of the Identity Toolkit's reference
/// (https://cloud.google.com/identity-platform/docs/reference/rest) and of the SDKs' error tables (firebase-js-sdk,
/// `packages/auth/src/api/errors.ts`).
struct IdentityError: Error, Sendable, Hashable {
  /// What the client reads: `WEAK_PASSWORD : Password should be at least 6 characters`.
  let message: String
  /// The HTTP status; 400 for everything that logic refuses.
  let status: Int
  /// Google's name of the status, where the protocol gives one.
  let statusName: String?

  init(_ code: String, _ detail: String? = nil) {
    self.init(message: detail.map { "\(code) : \($0)" } ?? code, status: 400, statusName: nil)
  }

  private init(message: String, status: Int, statusName: String?) {
    self.message = message
    self.status = status
    self.statusName = statusName
  }

  /// The code without the sentence.
  var code: String { message.split(separator: " ", maxSplits: 1).first.map(String.init) ?? message }

  /// A message as it goes over the wire.
  static func wire(_ message: String) -> IdentityError { IdentityError(message: message, status: 400, statusName: nil) }

  /// A body that is no JSON object, or a field of another type.
  static func invalidArgument(_ text: String) -> IdentityError {
    IdentityError(message: text, status: 400, statusName: "INVALID_ARGUMENT")
  }

  /// Invalid credentials.
  static func unauthenticated(_ text: String) -> IdentityError {
    IdentityError(message: text, status: 401, statusName: "UNAUTHENTICATED")
  }

  /// No credentials, or not enough of them.
  static func permissionDenied(_ text: String) -> IdentityError {
    IdentityError(message: text, status: 403, statusName: "PERMISSION_DENIED")
  }

  /// No such method, or no such project.
  static func notFound(_ text: String) -> IdentityError {
    IdentityError(message: text, status: 404, statusName: "NOT_FOUND")
  }

  /// Part of the protocol, but not of this server.
  static func notImplemented(_ text: String) -> IdentityError {
    IdentityError(message: text, status: 501, statusName: "NOT_IMPLEMENTED")
  }

  /// The store cannot be read or written; nothing was changed.
  static func unavailable(_ text: String) -> IdentityError {
    IdentityError(message: text, status: 503, statusName: "UNAVAILABLE")
  }
}

// MARK: - Errors of accounts

extension IdentityError {
  /// The protocol's error for whatever a call throws.
  init(_ error: any Error) {
    switch error {
    case let error as IdentityError: self = error
    case let error as AccountError: self.init(error)
    default: self = .unavailable("\(error)")
    }
  }

  init(_ error: AccountError) {
    self =
      switch error {
      case .unknownAccount: Self("USER_NOT_FOUND")
      case .disabledAccount: Self("USER_DISABLED")
      case .emailTaken: Self("EMAIL_EXISTS")
      case .phoneNumberTaken: Self("PHONE_NUMBER_EXISTS")
      case .identityTaken: Self("FEDERATED_USER_ID_ALREADY_LINKED")
      case .uidTaken: Self("DUPLICATE_LOCAL_ID")
      case .unknownTenant, .tenantMismatch, .disabledTenant, .tenantsOff, .notForTenants, .emailLinksDisabled,
        .providerConfigurationTaken, .unknownProviderConfiguration:
        Self.tenants(error)
      case .noEmail: Self("MISSING_EMAIL")
      case .notDisabled: Self("NOT_DISABLED", "Disable the account before batch deletion.")
      case .missingIDToken: Self("MISSING_ID_TOKEN")
      case .invalidIDToken: Self("INVALID_ID_TOKEN")
      case .expiredToken: Self("TOKEN_EXPIRED")
      case .invalidRefreshToken: Self("INVALID_REFRESH_TOKEN")
      case .signInTooOld: Self("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
      case .invalidCustomToken(let problem): Self(problem)
      case .invalidCookieDuration: Self("INVALID_DURATION")
      case .unknownEmail: Self("EMAIL_NOT_FOUND")
      case .wrongPassword: Self("INVALID_PASSWORD")
      case .wrongCredentials: Self("INVALID_LOGIN_CREDENTIALS")
      case .passwordSignInDisabled: Self("PASSWORD_LOGIN_DISABLED")
      case .passwordsDisabled: Self("OPERATION_NOT_ALLOWED")
      case .signUpDisabled: Self("ADMIN_ONLY_OPERATION")
      case .passwordTooShort: Self("WEAK_PASSWORD", "Password should be at least 6 characters")
      case .passwordTooLong: Self("WEAK_PASSWORD", "Password should be at most \(PasswordRecord.passwordMax) bytes")
      case .unmetPasswordRequirements(let unmet): Self.unmet(unmet)
      case .refusedByDecision(let text), .decisionFailed(let text): Self("BLOCKING_FUNCTION_ERROR_RESPONSE", "((\(text)))")
      case .concurrentChange: Self("TOO_MANY_ATTEMPTS_TRY_LATER", "Try again.")
      case .tooManyFailures, .tooManyPasswords, .tooManyCodes: Self.limited(error)
      case .unavailable(let text): .unavailable(text)
      case .rejected(let text): .invalidArgument(text)
      case .invalidIdentity(let problem): Self(problem)
      case .importedAccountExists, .importedEmailTaken, .importedPhoneNumberTaken, .importedIdentityTaken,
        .importedFactorsNeedEmail, .importedFactorsNeedVerifiedEmail:
        Self.imported(error)
      case .invalidCode, .expiredCode, .wrongCodeEmail, .unauthorizedDomain, .unknownServerAddress, .unverifiedEmailChange,
        .phonesUnavailable, .phoneIsSecondFactor, .unknownCodeSession, .expiredCodeSession, .wrongOneTimeCode,
        .invalidPhoneProof:
        Self.codes(error)
      case .unsupportedFirstFactor, .unverifiedEmail, .tooManySecondFactors, .secondFactorTaken, .unknownSecondFactor,
        .duplicateSecondFactorID, .invalidPendingCredential, .phoneFactorsDisabled, .authenticatorsDisabled, .notATelephone,
        .missingAuthenticatorSecret:
        Self.secondFactors(error)
      }
  }

  private static func tenants(_ error: AccountError) -> IdentityError {
    switch error {
    case .unknownTenant:
      IdentityError(message: "TENANT_NOT_FOUND", status: 400, statusName: nil)
    case .tenantMismatch: Self("TENANT_ID_MISMATCH")
    case .disabledTenant: Self("PROJECT_DISABLED")
    case .tenantsOff:
      Self(
        "OPERATION_NOT_ALLOWED",
        "((The project has no tenants. An administrator switches them on: PATCH the project's config with "
          + "{\"multiTenant\":{\"allowTenants\":true}}.))")
    case .notForTenants: Self("UNSUPPORTED_TENANT_OPERATION")
    case .providerConfigurationTaken: Self("CONFIGURATION_EXISTS", "There is a configuration of this name.")
    case .unknownProviderConfiguration: IdentityError(message: "CONFIGURATION_NOT_FOUND", status: 404, statusName: "NOT_FOUND")
    default: Self("OPERATION_NOT_ALLOWED")
    }
  }

  /// What is asked for is part of the protocol, and not of this server.
  static func unsupported(_ what: IdentityAddress.Unsupported) -> IdentityError {
    switch what {
    case .passkeys:
      .notImplemented(
        "Passkeys are not supported; nothing was changed. Use a password with a second factor (accounts/mfaEnrollment:start), "
          + "a link in a mail (EMAIL_SIGNIN) or an OpenID Connect provider.")
    case .defaultProviders:
      .notImplemented(
        "Google, Apple and the other well-known providers are named in the server's configuration file (accounts.providers); "
          + "nothing was changed. Other OpenID Connect providers: oauthIdpConfigs.")
    }
  }

  private static func limited(_ error: AccountError) -> IdentityError {
    switch error {
    case .tooManyCodes: Self("RESET_PASSWORD_EXCEED_LIMIT")
    case .tooManyPasswords:
      Self("TOO_MANY_ATTEMPTS_TRY_LATER", "Too many passwords were tried from this address. Try again in a moment.")
    default:
      Self(
        "TOO_MANY_ATTEMPTS_TRY_LATER",
        "Access to this account has been temporarily disabled due to many failed login attempts. Try again later, or reset "
          + "the password.")
    }
  }

  private static func unmet(_ requirements: [PasswordPolicy.Requirement]) -> IdentityError {
    let sentences = requirements.map { requirement in
      switch requirement {
      case .atLeast(let length): "Password must contain at least \(length) characters"
      case .atMost(let length): "Password may contain at most \(length) characters"
      case .lowerCase: "Password must contain a lower case character"
      case .upperCase: "Password must contain an upper case character"
      case .digit: "Password must contain a numeric character"
      case .symbol: "Password must contain a non-alphanumeric character"
      }
    }
    return Self(
      "PASSWORD_DOES_NOT_MEET_REQUIREMENTS", "Missing password requirements: [\(sentences.joined(separator: ", "))]")
  }

  /// Errors of mailed codes and of codes for telephones.
  private static func codes(_ error: AccountError) -> IdentityError {
    switch error {
    case .expiredCode: Self("EXPIRED_OOB_CODE")
    case .wrongCodeEmail: Self("INVALID_EMAIL", "The email provided does not match the sign-in email address.")
    case .unauthorizedDomain:
      Self("UNAUTHORIZED_DOMAIN", "The domain is not among those that this server is configured with.")
    case .unknownServerAddress:
      Self("OPERATION_NOT_ALLOWED", "The server does not know its own address, which links would lead to.")
    case .unverifiedEmailChange: Self("OPERATION_NOT_ALLOWED", "Please verify the new email before changing email.")
    case .phonesUnavailable: Self("OPERATION_NOT_ALLOWED", "Sign-in by telephone is not set up on this server.")
    case .phoneIsSecondFactor:
      Self("UNSUPPORTED_FIRST_FACTOR", "A phone number cannot be set as a first factor on an SMS based MFA user.")
    case .unknownCodeSession: Self("INVALID_SESSION_INFO")
    case .expiredCodeSession: Self("SESSION_EXPIRED")
    case .wrongOneTimeCode: Self("INVALID_CODE")
    case .invalidPhoneProof: Self("INVALID_TEMPORARY_PROOF")
    default: Self("INVALID_OOB_CODE")
    }
  }

  private static func secondFactors(_ error: AccountError) -> IdentityError {
    switch error {
    case .unverifiedEmail:
      Self("UNVERIFIED_EMAIL", "Need to verify email first before enrolling second factors.")
    case .tooManySecondFactors: Self("SECOND_FACTOR_LIMIT_EXCEEDED")
    case .secondFactorTaken:
      Self("SECOND_FACTOR_EXISTS", "Phone number already enrolled as second factor for this account.")
    case .unknownSecondFactor: Self("MFA_ENROLLMENT_NOT_FOUND")
    case .duplicateSecondFactorID: Self("DUPLICATE_MFA_ENROLLMENT_ID")
    case .invalidPendingCredential: Self("INVALID_MFA_PENDING_CREDENTIAL")
    case .phoneFactorsDisabled: Self("OPERATION_NOT_ALLOWED", "SMS based MFA not enabled.")
    case .authenticatorsDisabled: Self("OPERATION_NOT_ALLOWED", "TOTP based MFA not enabled.")
    case .notATelephone: Self("INVALID_ARGUMENT", "((Only a telephone is sent a code.))")
    case .missingAuthenticatorSecret:
      .invalidArgument("An authenticator is enrolled by its player; what was exported bears sharedSecretKey.")
    default: Self("UNSUPPORTED_FIRST_FACTOR", "MFA is not available for the given first factor.")
    }
  }

  /// The sentences by which an import names what is wrong with a row.
  private static func imported(_ error: AccountError) -> IdentityError {
    switch error {
    case .importedEmailTaken: .wire("email exists in other account in database")
    case .importedPhoneNumberTaken: .wire("((duplicated phone number in database))")
    case .importedIdentityTaken: .wire("raw id exists in other account in database")
    case .importedFactorsNeedEmail: .wire("Second factor account requires email to be presented.")
    case .importedFactorsNeedVerifiedEmail: .wire("Second factor account requires email to be verified.")
    default: .wire("localId belongs to an existing account - can not overwrite.")
    }
  }

  private init(_ problem: AccountError.IdentityProblem) {
    self =
      switch problem {
      case .unreadable(let text?): Self("INVALID_IDP_RESPONSE", "Unable to parse id_token: \(text)")
      case .unreadable(nil): Self("INVALID_IDP_RESPONSE", "Unable to parse id_token.")
      case .missingSubject:
        Self(
          "INVALID_IDP_RESPONSE",
          "Invalid Idp Response: id_token missing required fields. ((Missing \"sub\" field. This field is "
            + "required and must be a unique identifier.))")
      case .missingIDToken:
        Self("INVALID_CREDENTIAL_OR_PROVIDER_ID", "Invalid IdP response/credential: an id_token is needed.")
      case .opaqueAccessToken:
        Self(
          "INVALID_IDP_RESPONSE",
          "In development an access_token is JSON text like {\"sub\":\"abc\"}; an id_token may be that, or any JWT.")
      case .unknownProvider:
        Self(
          "OPERATION_NOT_ALLOWED", "The identity provider configuration is not found. (accounts.providers names them.)")
      case .disabledProvider:
        Self("OPERATION_NOT_ALLOWED", "The identity provider configuration is disabled.")
      case .token(.wrongNonce): Self("MISSING_OR_INVALID_NONCE", TokenError.wrongNonce.description)
      case .token(let problem): Self("INVALID_IDP_RESPONSE", problem.description)
      }
  }

  private init(_ problem: CustomTokenError) {
    self =
      switch problem {
      case .invalid(let why): Self("INVALID_CUSTOM_TOKEN", why)
      case .missingIdentifier: Self("MISSING_IDENTIFIER")
      case .forbiddenClaim(let name): Self("FORBIDDEN_CLAIM", name)
      }
  }

  init(_ problem: ClaimsError) {
    self =
      switch problem {
      case .tooLarge: Self("CLAIMS_TOO_LARGE")
      case .invalid: Self("INVALID_CLAIMS")
      case .forbidden(let name): Self("FORBIDDEN_CLAIM", name)
      }
  }

  init(_ problem: PasswordImportError) {
    self =
      switch problem {
      case .missingAlgorithm: Self("MISSING_HASH_ALGORITHM")
      case .unknownAlgorithm(let name): Self("INVALID_HASH_ALGORITHM", name)
      case .badParameter(let what): Self("INVALID_HASH_PARAMETERS", what)
      case .badHash:
        Self("INVALID_PASSWORD_HASH", "The hash or its salt is no base64, or not of the algorithm's size.")
      }
  }
}
