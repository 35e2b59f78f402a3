import Accounts
import NIOHTTP1
import TreeModel

/// One method of the Identity Toolkit: its name in v1, how it is asked for, and who answers.
struct IdentityRoute: Sendable {
  typealias Body = @Sendable (AccountService, IdentityCall) async throws -> JSON

  /// Its name behind `accounts:`.
  let name: String
  let method: HTTPMethod
  /// Whether only administrators may ask.
  let isAdministrators: Bool
  /// Whether an administrator's call changes something, which the audit log then has.
  let isChange: Bool
  let answer: Body

  init(
    _ name: String, method: HTTPMethod = .POST, administrators: Bool = false, changes: Bool = true, answer: @escaping Body
  ) {
    self.name = name
    self.method = method
    isAdministrators = administrators
    isChange = changes
    self.answer = answer
  }

  /// Every method by its v1 name.
  static let byName: [String: IdentityRoute] = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  private static let all: [IdentityRoute] = [
    IdentityRoute("signUp", answer: SignInCalls.signUp), IdentityRoute("update", answer: AccountCalls.update),
    IdentityRoute("signInWithPassword", answer: SignInCalls.withPassword),
    IdentityRoute("signInWithCustomToken", answer: SignInCalls.withCustomToken),
    IdentityRoute("signInWithIdp", answer: ProviderCalls.signIn),
    IdentityRoute("signInWithEmailLink", answer: SignInCalls.withEmailLink),
    IdentityRoute("sendVerificationCode", answer: SignInCalls.sendVerificationCode),
    IdentityRoute("signInWithPhoneNumber", answer: SignInCalls.withPhoneNumber),
    IdentityRoute("lookup", changes: false, answer: AccountCalls.lookup), IdentityRoute("delete", answer: AccountCalls.delete),
    IdentityRoute("createAuthUri", changes: false, answer: SignInCalls.createAuthURI),
    IdentityRoute("sendOobCode", answer: AccountCalls.sendCode),
    IdentityRoute("resetPassword", answer: AccountCalls.resetPassword),
    IdentityRoute("mfaEnrollment:start", answer: SecondFactorCalls.startEnrollment),
    IdentityRoute("mfaEnrollment:finalize", answer: SecondFactorCalls.finishEnrollment),
    IdentityRoute("mfaEnrollment:withdraw", answer: SecondFactorCalls.withdrawEnrollment),
    IdentityRoute("mfaSignIn:start", answer: SecondFactorCalls.start),
    IdentityRoute("mfaSignIn:finalize", answer: SecondFactorCalls.finish),
    IdentityRoute("batchCreate", administrators: true, answer: AdministratorCalls.batchCreate),
    IdentityRoute("batchGet", method: .GET, administrators: true, changes: false, answer: AdministratorCalls.batchGet),
    IdentityRoute("batchDelete", administrators: true, answer: AdministratorCalls.batchDelete),
    IdentityRoute("query", administrators: true, changes: false, answer: AdministratorCalls.query),
    IdentityRoute("createSessionCookie", administrators: true, changes: false, answer: SignInCalls.createSessionCookie),
  ]

  /// The v1 names of the methods that older clients ask for.
  static let legacyNames: [String: String] = [
    "signupNewUser": "signUp", "setAccountInfo": "update", "verifyPassword": "signInWithPassword",
    "verifyAssertion": "signInWithIdp", "verifyCustomToken": "signInWithCustomToken", "getAccountInfo": "lookup",
    "deleteAccount": "delete", "createAuthUri": "createAuthUri", "getOobConfirmationCode": "sendOobCode",
    "resetPassword": "resetPassword", "emailLinkSignin": "signInWithEmailLink",
    "sendVerificationCode": "sendVerificationCode", "verifyPhoneNumber": "signInWithPhoneNumber",
    "uploadAccount": "batchCreate", "downloadAccount": "batchGet",
  ]
}
