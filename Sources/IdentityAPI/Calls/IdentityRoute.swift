import Accounts
import NIOHTTP1
import TreeModel

/// One method of the Identity Toolkit: what it is called in v1, how it is asked for, and who does it.
struct IdentityRoute: Sendable {
  typealias Body = @Sendable (AccountService, IdentityCall) async throws(AccountError) -> JSON

  /// Its name behind `accounts:`.
  let name: String
  let method: HTTPMethod
  /// Whether only administrators may ask.
  let isAdministrators: Bool
  /// Whether an administrator's call changes something, which the audit log then has.
  let isChange: Bool
  let body: Body

  init(
    _ name: String, _ method: HTTPMethod = .POST, administrators: Bool = false, changes: Bool = true, _ body: @escaping Body
  ) {
    self.name = name
    self.method = method
    isAdministrators = administrators
    isChange = changes
    self.body = body
  }

  /// Every method by its v1 name (spec: auth-protocol §2).
  static let byName: [String: IdentityRoute] = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  private static let all: [IdentityRoute] = [
    IdentityRoute("signUp") { (book, call) throws(AccountError) in try await book.signUp(call) },
    IdentityRoute("update") { (book, call) throws(AccountError) in try await book.update(call) },
    IdentityRoute("signInWithPassword") { (book, call) throws(AccountError) in try await book.signInWithPassword(call) },
    IdentityRoute("signInWithCustomToken") { (book, call) throws(AccountError) in
      try await book.signInWithCustomToken(call)
    },
    IdentityRoute("signInWithIdp") { (book, call) throws(AccountError) in try await book.signInWithProvider(call) },
    IdentityRoute("signInWithEmailLink") { (book, call) throws(AccountError) in try await book.signInWithEmailLink(call) },
    IdentityRoute("sendVerificationCode") { (book, call) throws(AccountError) in try book.sendVerificationCode(call) },
    IdentityRoute("signInWithPhoneNumber") { (book, call) throws(AccountError) in
      try await book.signInWithPhoneNumber(call)
    },
    IdentityRoute("lookup", changes: false) { (book, call) throws(AccountError) in try book.lookup(call) },
    IdentityRoute("delete") { (book, call) throws(AccountError) in try await book.delete(call) },
    IdentityRoute("createAuthUri", changes: false) { (book, call) throws(AccountError) in try book.createAuthURI(call) },
    IdentityRoute("sendOobCode") { (book, call) throws(AccountError) in try await book.sendCode(call) },
    IdentityRoute("resetPassword") { (book, call) throws(AccountError) in try await book.resetPassword(call) },
    IdentityRoute("mfaEnrollment:start") { (book, call) throws(AccountError) in try book.startEnrollment(call) },
    IdentityRoute("mfaEnrollment:finalize") { (book, call) throws(AccountError) in try await book.finishEnrollment(call) },
    IdentityRoute("mfaEnrollment:withdraw") { (book, call) throws(AccountError) in
      try await book.withdrawEnrollment(call)
    },
    IdentityRoute("mfaSignIn:start") { (book, call) throws(AccountError) in try book.startSecondFactor(call) },
    IdentityRoute("mfaSignIn:finalize") { (book, call) throws(AccountError) in try await book.finishSecondFactor(call) },
    IdentityRoute("batchCreate", administrators: true) { (book, call) throws(AccountError) in
      try await book.batchCreate(call)
    },
    IdentityRoute("batchGet", .GET, administrators: true, changes: false) { (book, call) throws(AccountError) in
      try book.batchGet(call)
    },
    IdentityRoute("batchDelete", administrators: true) { (book, call) throws(AccountError) in
      try await book.batchDelete(call)
    },
    IdentityRoute("query", administrators: true, changes: false) { (book, call) throws(AccountError) in
      try book.query(call)
    },
    IdentityRoute("createSessionCookie", administrators: true, changes: false) { (book, call) throws(AccountError) in
      try book.createSessionCookie(call)
    },
  ]

  /// The v1 names of the methods that older clients ask for (spec: auth-protocol §1).
  static let legacyNames: [String: String] = [
    "signupNewUser": "signUp", "setAccountInfo": "update", "verifyPassword": "signInWithPassword",
    "verifyAssertion": "signInWithIdp", "verifyCustomToken": "signInWithCustomToken", "getAccountInfo": "lookup",
    "deleteAccount": "delete", "createAuthUri": "createAuthUri", "getOobConfirmationCode": "sendOobCode",
    "resetPassword": "resetPassword", "emailLinkSignin": "signInWithEmailLink",
    "sendVerificationCode": "sendVerificationCode", "verifyPhoneNumber": "signInWithPhoneNumber",
    "uploadAccount": "batchCreate", "downloadAccount": "batchGet",
  ]
}
