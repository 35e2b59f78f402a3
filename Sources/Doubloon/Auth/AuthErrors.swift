import ClientRuntime
public import Foundation

/// The domain of account errors as `NSError`.
public let AuthErrorDomain = "FIRAuthErrorDomain"
/// The key of a code's name in `userInfo`: `ERROR_EMAIL_ALREADY_IN_USE`.
public let AuthErrorUserInfoNameKey = "FIRAuthErrorUserInfoNameKey"
/// The key of the address that an error is about.
public let AuthErrorUserInfoEmailKey = "FIRAuthErrorUserInfoEmailKey"
/// The key of the credential by which the player can sign in to the account that has the identity.
public let AuthErrorUserInfoUpdatedCredentialKey = "FIRAuthErrorUserInfoUpdatedCredentialKey"
/// The key of the ``MultiFactorResolver`` of a sign-in that needs a second factor.
public let AuthErrorUserInfoMultiFactorResolverKey = "FIRAuthErrorUserInfoMultiFactorResolverKey"

/// What went wrong with an account, by Firebase's numbers.
///
/// Calls throw ``AuthError``, which has the code: `catch let error as AuthError where error.code == .emailAlreadyInUse`. A pattern
/// of the code alone matches none of them; `(error as NSError).code` is the same number.
public enum AuthErrorCode: Int, Error, CustomNSError, Sendable, CaseIterable {
  case invalidCustomToken = 17000, customTokenMismatch = 17002, invalidCredential = 17004, userDisabled = 17005
  case operationNotAllowed = 17006, emailAlreadyInUse = 17007, invalidEmail = 17008, wrongPassword = 17009
  case tooManyRequests = 17010, userNotFound = 17011, accountExistsWithDifferentCredential = 17012
  case requiresRecentLogin = 17014, providerAlreadyLinked = 17015, noSuchProvider = 17016, invalidUserToken = 17017
  case networkError = 17020, userTokenExpired = 17021, invalidAPIKey = 17023, userMismatch = 17024
  case credentialAlreadyInUse = 17025, weakPassword = 17026, appNotAuthorized = 17028, expiredActionCode = 17029
  case invalidActionCode = 17030, invalidMessagePayload = 17031, invalidSender = 17032, invalidRecipientEmail = 17033
  case missingEmail = 17034, unauthorizedDomain = 17038, invalidContinueURI = 17039, missingContinueURI = 17040
  case missingVerificationCode = 17043, invalidVerificationCode = 17044, sessionExpired = 17051
  case rejectedCredential = 17075, secondFactorRequired = 17078, missingMultiFactorSession = 17081
  case missingMultiFactorInfo = 17082, invalidMultiFactorSession = 17083, multiFactorInfoNotFound = 17084
  case adminRestrictedOperation = 17085, unverifiedEmail = 17086, secondFactorAlreadyEnrolled = 17087
  case maximumSecondFactorCountExceeded = 17088, unsupportedFirstFactor = 17089, missingOrInvalidNonce = 17094
  case nullUser = 17067, keychainError = 17995, internalError = 17999
  /// No app was configured. This library's own.
  case notConfigured = 18900

  /// ``AuthErrorDomain``.
  public static var errorDomain: String { AuthErrorDomain }
  /// Firebase's number.
  public var errorCode: Int { rawValue }
  /// The sentence, the name, and what else there is to say.
  public var errorUserInfo: [String: Any] { AuthError(self, email: nil).errorUserInfo }
}

/// Why a call about an account failed: a code for programs, a sentence for people.
public struct AuthError: Error, CustomNSError, LocalizedError, Sendable, CustomStringConvertible {
  /// What went wrong.
  public let code: AuthErrorCode
  /// What happened, and what to do.
  public let message: String
  /// The address that it is about.
  public let email: String?
  /// By this the player can sign in to the account that has the identity.
  public let updatedCredential: AuthCredential?
  /// Completes a sign-in that needs a second factor.
  public let resolver: MultiFactorResolver?

  init(
    _ code: AuthErrorCode, _ message: String? = nil, email: String? = nil, updatedCredential: AuthCredential? = nil,
    resolver: MultiFactorResolver? = nil
  ) {
    self.code = code
    self.message = message ?? code.sentence
    self.email = email
    self.updatedCredential = updatedCredential
    self.resolver = resolver
  }

  /// ``AuthErrorDomain``.
  public static var errorDomain: String { AuthErrorDomain }
  /// Firebase's number.
  public var errorCode: Int { code.rawValue }
  public var errorDescription: String? { message }
  public var description: String { message }
  /// The sentence, the name, and what else there is to say.
  public var errorUserInfo: [String: Any] {
    var members: [String: Any] = [NSLocalizedDescriptionKey: message, AuthErrorUserInfoNameKey: code.name]
    if let email { members[AuthErrorUserInfoEmailKey] = email }
    if let updatedCredential { members[AuthErrorUserInfoUpdatedCredentialKey] = updatedCredential }
    if let resolver { members[AuthErrorUserInfoMultiFactorResolverKey] = resolver }
    return members
  }

  /// Whether the session is over: the account is gone, or its tokens do not count any more.
  var endsSession: Bool { [.userDisabled, .userNotFound, .userTokenExpired].contains(code) }
}

extension AuthErrorCode {
  /// `ERROR_EMAIL_ALREADY_IN_USE`.
  var name: String {
    switch self {
    case .networkError: "ERROR_NETWORK_REQUEST_FAILED"
    case .invalidAPIKey: "ERROR_INVALID_API_KEY"
    default: "ERROR_" + words
    }
  }

  private var words: String {
    "\(self)".reduce(into: "") { text, letter in
      // `URI` is one word.
      if letter.isUppercase, text.last?.isUppercase == false { text += "_" }
      text.append(letter)
    }.uppercased()
  }

  var sentence: String {
    switch self {
    case .emailAlreadyInUse: "The address belongs to another account. Sign in with it, or use another address."
    case .credentialAlreadyInUse: "That identity belongs to another account. Sign in with it instead."
    case .accountExistsWithDifferentCredential:
      "An account with that address exists and is signed in to another way. Sign in that way, then link this one."
    case .weakPassword: "The password is too weak. Use at least 6 characters."
    case .wrongPassword, .invalidCredential: "The address or the password is wrong, or the credential has ended. Try again."
    case .userNotFound: "There is no such account; it may have been deleted."
    case .userDisabled: "The account has been disabled by an administrator."
    case .invalidEmail: "That is no mail address."
    case .missingEmail: "An address is needed."
    case .operationNotAllowed: "The server does not offer this way of signing in."
    case .adminRestrictedOperation: "The server makes no new accounts for players."
    case .tooManyRequests: "There were too many attempts. Try again later."
    case .requiresRecentLogin: "For this the player must have signed in a short while ago. Reauthenticate, then try again."
    case .providerAlreadyLinked: "The account has a way of signing in by that provider already. Unlink it first."
    case .noSuchProvider: "The account has no way of signing in by that provider."
    case .networkError: "The server cannot be reached. Try again when the device is online."
    case .userTokenExpired: "The session is over, because the password or the address was changed. Sign in again."
    case .invalidUserToken: "The server does not know the session. Is this the server at which the player signed in?"
    case .invalidCustomToken: "The custom token is not good: ask the game's server for a new one."
    case .userMismatch: "That credential belongs to another player."
    case .nullUser: "Nobody is signed in."
    case .expiredActionCode: "The code has ended. Ask for a new mail."
    case .invalidActionCode: "The code is wrong, or was used before. Ask for a new mail."
    case .secondFactorRequired: "A second factor is needed: complete the sign-in with the error's resolver."
    case .invalidVerificationCode: "The code is wrong. Enter the one that the authenticator shows now."
    case .notConfigured: "No app is configured. Call FirebaseApp.configure() or configure(options:) first."
    default: "The server refused: \(self)."
    }
  }

  /// The codes of the Identity Toolkit's words.
  static let byWord: [String: AuthErrorCode] = [
    "INVALID_CUSTOM_TOKEN": .invalidCustomToken, "CREDENTIAL_MISMATCH": .customTokenMismatch, "USER_DISABLED": .userDisabled,
    "MISSING_CUSTOM_TOKEN": .invalidCustomToken, "OPERATION_NOT_ALLOWED": .operationNotAllowed,
    "PASSWORD_LOGIN_DISABLED": .operationNotAllowed, "EMAIL_EXISTS": .emailAlreadyInUse, "INVALID_EMAIL": .invalidEmail,
    "INVALID_IDENTIFIER": .invalidEmail, "INVALID_PASSWORD": .wrongPassword, "MISSING_PASSWORD": .wrongPassword,
    "TOO_MANY_ATTEMPTS_TRY_LATER": .tooManyRequests, "RESET_PASSWORD_EXCEED_LIMIT": .tooManyRequests,
    "QUOTA_EXCEEDED": .tooManyRequests, "EMAIL_NOT_FOUND": .userNotFound, "USER_NOT_FOUND": .userNotFound,
    "CREDENTIAL_TOO_OLD_LOGIN_AGAIN": .requiresRecentLogin, "INVALID_ID_TOKEN": .invalidUserToken,
    "INVALID_REFRESH_TOKEN": .invalidUserToken, "TOKEN_EXPIRED": .userTokenExpired,
    "FEDERATED_USER_ID_ALREADY_LINKED": .credentialAlreadyInUse, "PHONE_NUMBER_EXISTS": .credentialAlreadyInUse,
    "WEAK_PASSWORD": .weakPassword, "PASSWORD_DOES_NOT_MEET_REQUIREMENTS": .weakPassword,
    "EXPIRED_OOB_CODE": .expiredActionCode, "INVALID_OOB_CODE": .invalidActionCode, "MISSING_OOB_CODE": .invalidActionCode,
    "MISSING_EMAIL": .missingEmail, "INVALID_LOGIN_CREDENTIALS": .invalidCredential,
    "INVALID_CREDENTIAL": .invalidCredential, "INVALID_IDP_RESPONSE": .invalidCredential,
    "INVALID_CREDENTIAL_OR_PROVIDER_ID": .invalidCredential, "MISSING_OR_INVALID_NONCE": .missingOrInvalidNonce,
    "ADMIN_ONLY_OPERATION": .adminRestrictedOperation, "UNAUTHORIZED_DOMAIN": .unauthorizedDomain,
    "INVALID_CONTINUE_URI": .invalidContinueURI, "MISSING_CONTINUE_URI": .missingContinueURI,
    "MISSING_CODE": .missingVerificationCode, "INVALID_CODE": .invalidVerificationCode, "SESSION_EXPIRED": .sessionExpired,
    "INVALID_SESSION_INFO": .invalidMultiFactorSession, "INVALID_MFA_PENDING_CREDENTIAL": .invalidMultiFactorSession,
    "MISSING_MFA_PENDING_CREDENTIAL": .missingMultiFactorSession, "MFA_ENROLLMENT_NOT_FOUND": .multiFactorInfoNotFound,
    "MISSING_MFA_ENROLLMENT_ID": .missingMultiFactorInfo, "UNVERIFIED_EMAIL": .unverifiedEmail,
    "SECOND_FACTOR_EXISTS": .secondFactorAlreadyEnrolled, "SECOND_FACTOR_LIMIT_EXCEEDED": .maximumSecondFactorCountExceeded,
    "UNSUPPORTED_FIRST_FACTOR": .unsupportedFirstFactor,
  ]
}

extension AuthError {
  /// A refusal in the Identity Toolkit's words: `WEAK_PASSWORD : Password should be …`.
  init(wire text: String, email: String? = nil) {
    let word = text.prefix { $0 != ":" && $0 != " " }
    let detail = text.dropFirst(word.count).drop { $0 == ":" || $0 == " " }
    guard let code = AuthErrorCode.byWord[String(word)] else {
      self.init(.internalError, "The server refused: \(text.prefix(300))", email: email)
      return
    }
    self.init(code, detail.isEmpty ? nil : "\(code.sentence) (\(detail.prefix(300)))", email: email)
  }

  init(_ error: TransportError) { self.init(.networkError, error.message) }
}
