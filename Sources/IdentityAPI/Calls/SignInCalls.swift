import APISupport
import Accounts
import StorageCore
import TreeModel

/// Signing up and in: `accounts:signUp`, `accounts:signInWith…`, `token`.
enum SignInCalls {
  // MARK: Signing up

  /// `accounts:signUp`: an anonymous account, one with a password, a link, or an administrator's.
  static func signUp(_ accounts: AccountService, _ call: IdentityCall) async throws -> JSON {
    let fields = call.fields
    if call.isPrivileged, fields["idToken"] == nil { return try await create(accounts, call) }
    guard fields["localId"] == nil else { throw IdentityError("UNEXPECTED_PARAMETER", "User ID") }
    let password = try fields.text("password")
    guard fields["email"] != nil || password != nil || fields["idToken"] != nil else {
      return signedUp(try await accounts.signUpAnonymously(call.context))
    }
    guard let email = try fields.email() else { throw IdentityError("MISSING_EMAIL") }
    guard let password else { throw IdentityError("MISSING_PASSWORD") }
    var order = PasswordSignUp(email: email, password: password)
    order.idToken = try fields.text("idToken")
    order.displayName = try fields.text("displayName")
    if accounts.options.isDevelopment { order.secondFactors = try fields.secondFactors("mfaInfo", keepsIDs: false) ?? [] }
    return signedUp(try await accounts.signUp(order, call.context))
  }

  private static func signedUp(_ signedIn: SignedInAccount) -> JSON {
    JSON(fields: signedUp(signedIn.account) + signedIn.result.members)
  }

  private static func signedUp(_ account: AccountRecord) -> [(String, JSON?)] {
    [
      ("kind", "identitytoolkit#SignupNewUserResponse"), ("localId", .string(account.uid)),
      ("email", account.email.map(JSON.string)), ("displayName", account.displayName.map(JSON.string)),
    ]
  }

  /// An account that an administrator makes: it has no tokens.
  private static func create(_ accounts: AccountService, _ call: IdentityCall) async throws -> JSON {
    let uid = try call.fields.uid()
    let draft = try call.fields.accountDraft()
    let made = try await accounts.create(draft, uid: uid, password: try call.fields.text("password"), call.context)
    return JSON(fields: signedUp(made))
  }

  // MARK: Signing in

  /// `accounts:signInWithPassword`.
  static func withPassword(_ accounts: AccountService, call: IdentityCall) async throws -> JSON {
    guard try accounts.settings(of: call.project).allowsPasswords else { throw AccountError.passwordSignInDisabled }
    guard let email = try call.fields.email() else { throw IdentityError("MISSING_EMAIL") }
    let password = try call.fields.required("password", orThrow: "MISSING_PASSWORD")
    let signedIn = try await accounts.signIn(email: email, password: password, context: call.context)
    let account = signedIn.account
    return JSON(
      fields: [
        ("kind", "identitytoolkit#VerifyPasswordResponse"), ("registered", true), ("localId", .string(account.uid)),
        ("email", account.email.map(JSON.string)), ("displayName", account.displayName.map(JSON.string)),
        ("profilePicture", account.photoURL.map(JSON.string)),
      ] + signedIn.result.members)
  }

  /// `accounts:signInWithCustomToken`.
  static func withCustomToken(_ accounts: AccountService, call: IdentityCall) async throws -> JSON {
    let token = try call.fields.required("token", orThrow: "MISSING_CUSTOM_TOKEN")
    let signedIn = try await accounts.signIn(customToken: token, context: call.context)
    return JSON(
      fields: [("kind", "identitytoolkit#VerifyCustomTokenResponse"), ("isNewUser", .bool(signedIn.isNew))]
        + signedIn.result.members)
  }

  /// `accounts:signInWithEmailLink`.
  static func withEmailLink(_ accounts: AccountService, call: IdentityCall) async throws -> JSON {
    try accounts.emailCodes.checkLinks(in: call.project)
    let email = try call.fields.requiredEmail()
    let code = try call.fields.required("oobCode", orThrow: "MISSING_OOB_CODE")
    let signedIn = try await accounts.emailCodes.signIn(
      email: email, code: code, idToken: try call.fields.text("idToken"), context: call.context)
    return JSON(
      fields: [
        ("kind", "identitytoolkit#EmailLinkSigninResponse"), ("email", .string(email.text)),
        ("localId", .string(signedIn.account.uid)), ("isNewUser", .bool(signedIn.isNew)),
      ] + signedIn.result.members)
  }

  // MARK: Telephone

  /// `accounts:sendVerificationCode`.
  static func sendVerificationCode(_ accounts: AccountService, call: IdentityCall) throws -> JSON {
    try accounts.phones.checkAvailable(in: call.project)
    let session = try accounts.phones.sendCode(to: try call.fields.phoneNumber(), of: call.project)
    return ["sessionInfo": .string(session)]
  }

  /// `accounts:signInWithPhoneNumber`.
  static func withPhoneNumber(_ accounts: AccountService, call: IdentityCall) async throws -> JSON {
    try accounts.phones.checkAvailable(in: call.project)
    let outcome = try await accounts.phones.signIn(
      try phoneCredential(call.fields), idToken: try call.fields.text("idToken"), context: call.context)
    switch outcome {
    case .signedIn(let signedIn, let number):
      return JSON(
        fields: [
          ("isNewUser", .bool(signedIn.isNew)), ("phoneNumber", .string(number)),
          ("localId", .string(signedIn.account.uid)),
        ] + signedIn.result.members)
    case .numberTaken(let number, let proof, let lifetime):
      return [
        "phoneNumber": .string(number), "temporaryProof": .string(proof),
        "temporaryProofExpiresIn": .string(String(lifetime / 1000)),
      ]
    }
  }

  private static func phoneCredential(_ fields: IdentityFields) throws -> PhoneCredential {
    if let proof = try fields.text("temporaryProof"), !proof.isEmpty {
      return .proof(proof, number: try fields.phoneNumber())
    }
    let session = try fields.required("sessionInfo", orThrow: "MISSING_SESSION_INFO")
    return .code(try fields.required("code", orThrow: "MISSING_CODE"), session: session)
  }

  // MARK: Tokens

  /// `/v1/token`.
  static func refresh(_ accounts: AccountService, call: IdentityCall) async throws -> JSON {
    let grant = try call.fields.required("grantType", orThrow: "MISSING_GRANT_TYPE")
    guard grant == "refresh_token" else { throw IdentityError("INVALID_GRANT_TYPE") }
    let text = try call.fields.required("refreshToken", orThrow: "MISSING_REFRESH_TOKEN")
    let refreshed = try await accounts.refresh(text, of: call.project)
    let tokens = refreshed.tokens
    return JSON(fields: [
      ("id_token", .string(tokens.idToken)), ("access_token", .string(tokens.idToken)),
      ("expires_in", .string(String(tokens.lifetime))), ("refresh_token", .string(tokens.refreshToken)),
      ("token_type", "Bearer"), ("user_id", .string(refreshed.uid)), ("project_id", .string(call.project.number)),
    ])
  }

  /// `:createSessionCookie`.
  static func createSessionCookie(_ accounts: AccountService, call: IdentityCall) throws -> JSON {
    let token = try call.fields.required("idToken", orThrow: "MISSING_ID_TOKEN")
    let duration = try call.fields.int("validDuration")
    return ["sessionCookie": .string(try accounts.sessionCookie(for: token, duration: duration, of: call.project))]
  }

  /// `accounts:createAuthUri`: how an address signs in.
  static func createAuthURI(_ accounts: AccountService, call: IdentityCall) throws -> JSON {
    let identifier = try call.fields.required("identifier", orThrow: "MISSING_IDENTIFIER")
    let uri = try call.fields.required("continueUri", orThrow: "MISSING_CONTINUE_URI")
    guard let email = EmailAddress(identifier) else { throw IdentityError("INVALID_IDENTIFIER") }
    guard AbsoluteURL(uri) != nil else { throw IdentityError("INVALID_CONTINUE_URI") }
    let session = JSON.string(try call.fields.text("sessionId") ?? accounts.newSessionID())
    let kind: JSON = "identitytoolkit#CreateAuthUriResponse"
    guard let methods = try accounts.signInMethods(of: email, in: call.project) else {
      return ["kind": kind, "sessionId": session]
    }
    let names =
      (methods.hasPassword ? ["password"] : []) + (methods.signsInByLink ? ["emailLink"] : []) + methods.identityProviders
    return JSON(fields: [
      ("kind", kind), ("registered", .bool(methods.isRegistered)),
      ("allProviders", .array(methods.providers.map(JSON.string))), ("signinMethods", .array(names.map(JSON.string))),
      ("sessionId", session),
    ])
  }
}

extension SignInResult {
  /// The members of an answer that lets somebody in, or asks for a second factor.
  var members: [(String, JSON?)] {
    switch self {
    case .tokens(let tokens):
      [
        ("idToken", .string(tokens.idToken)), ("refreshToken", .string(tokens.refreshToken)),
        ("expiresIn", .string(String(tokens.lifetime))),
      ]
    case .secondFactorNeeded(let credential, let factors):
      [
        ("mfaPendingCredential", .string(credential)),
        ("mfaInfo", .array(factors.map { AccountJSON.factor($0, detail: .masked) })),
      ]
    }
  }
}
