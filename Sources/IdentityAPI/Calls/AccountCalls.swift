import APISupport
import Accounts
import StorageCore
import TreeModel

/// What is done with an account that there is: `accounts:update`, `:lookup`, `:delete`, and codes that are mailed.
enum AccountCalls {
  private static let requestTypes: [Int64: String] = [
    1: "PASSWORD_RESET", 4: "VERIFY_EMAIL", 6: "EMAIL_SIGNIN", 7: "VERIFY_AND_CHANGE_EMAIL",
  ]

  // MARK: Changing

  /// `accounts:update`: profile, address, password, links and unlinks; by the player, by an administrator, or by a code that
  /// was mailed.
  static func update(_ accounts: AccountService, _ call: IdentityCall) async throws -> JSON {
    let fields = call.fields
    if let code = try fields.text("oobCode"), !code.isEmpty {
      return updated(try await accounts.emailCodes.apply(code, context: call.context))
    }
    if call.isPrivileged, fields["idToken"] == nil {
      let uid = try fields.required("localId", orThrow: "MISSING_LOCAL_ID")
      let draft = try fields.accountDraft(needsFactorIDs: accounts.options.followsEmulator)
      let edits = try fields.accountEdits(mayLink: true)
      return updated(try await accounts.update(uid, to: draft, edits: edits, call.context))
    }
    guard let token = try fields.text("idToken"), !token.isEmpty else {
      throw IdentityError("INVALID_REQ_TYPE", "Unsupported request parameters.")
    }
    try accounts.profiles.check(idToken: token, of: call.project)
    // Who is believed to be anybody at a provider by signing in there may say so here, too.
    let mayLink = accounts.options.followsEmulator
    guard fields["customAttributes"] == nil, mayLink || fields["linkProviderUserInfo"] == nil else {
      throw IdentityError("INSUFFICIENT_PERMISSION")
    }
    guard fields["disableUser"] == nil else { throw IdentityError("OPERATION_NOT_ALLOWED") }
    var update = ProfileUpdate(idToken: token, edits: try fields.accountEdits(mayLink: mayLink))
    update.email = try fields.email()
    update.isRevoking = fields["validSince"] != nil
    return updated(try await accounts.profiles.update(update, call.context))
  }

  private static func updated(_ updated: UpdatedAccount) -> JSON {
    let account = updated.account
    return JSON(
      fields: [
        ("kind", "identitytoolkit#SetAccountInfoResponse"), ("localId", .string(account.uid)),
        ("email", account.email.map(JSON.string)),
        ("emailVerified", account.email == nil ? nil : .bool(account.isEmailVerified)),
        ("displayName", account.displayName.map(JSON.string)), ("photoUrl", account.photoURL.map(JSON.string)),
        ("providerUserInfo", AccountJSON.providers(account)), ("newEmail", updated.newEmail.map(JSON.string)),
      ] + (updated.result?.members ?? []))
  }

  /// `accounts:delete`.
  static func delete(_ accounts: AccountService, call: IdentityCall) async throws -> JSON {
    if call.isPrivileged {
      let uid = try call.fields.required("localId", orThrow: "MISSING_LOCAL_ID")
      try await accounts.remove(uid, of: call.project, by: call.actor)
    } else {
      try await accounts.profiles.delete(idToken: try call.fields.text("idToken"), of: call.project)
    }
    return ["kind": "identitytoolkit#DeleteAccountResponse"]
  }

  // MARK: Looking

  /// `accounts:lookup`.
  static func lookup(_ accounts: AccountService, call: IdentityCall) throws -> JSON {
    let kind: JSON = "identitytoolkit#GetAccountInfoResponse"
    if call.isPrivileged, call.fields["idToken"] == nil {
      let found = try accounts.accounts(try query(call.fields), of: call.project)
      let users = found.map { AccountJSON.administrators($0) }
      return JSON(fields: [("kind", kind), ("users", users.isEmpty ? nil : .array(users))])
    }
    let own = try accounts.profiles.account(idToken: try call.fields.text("idToken"), of: call.project)
    return ["kind": kind, "users": [AccountJSON.own(own)]]
  }

  /// The accounts that an administrator asks for.
  private static func query(_ fields: IdentityFields) throws -> AccountQuery {
    var query = AccountQuery()
    query.uids = try fields.texts("localId") ?? []
    for email in try fields.texts("email") ?? [] { query.identifiers.append(.email(email.lowercased())) }
    for email in try fields.texts("initialEmail") ?? [] { query.identifiers.append(.email(email.lowercased())) }
    for number in try fields.texts("phoneNumber") ?? [] { query.identifiers.append(.phone(number)) }
    for entry in try fields.list("federatedUserId") ?? [] {
      let entry = IdentityFields(entry)
      guard let provider = try entry.text("providerId"), let rawID = try entry.text("rawId") else { continue }
      query.identifiers.append(AccountIdentifier(kind: provider, value: rawID))
    }
    guard query.count <= AccountQuery.most else {
      throw IdentityError.invalidArgument("At most 1000 accounts are looked up at once.")
    }
    return query
  }

  // MARK: Mailed codes

  /// `accounts:sendOobCode`.
  static func sendCode(_ accounts: AccountService, call: IdentityCall) async throws -> JSON {
    let fields = call.fields
    guard let type = try fields.choice("requestType", among: requestTypes), type != "OOB_REQ_TYPE_UNSPECIFIED",
      let kind = AccountCodeRecord.Kind(rawValue: type), kind != .recoverEmail
    else { throw IdentityError("MISSING_REQ_TYPE") }
    let returnsLink = try fields.bool("returnOobLink") ?? false
    guard !returnsLink || call.isPrivileged else { throw IdentityError("INSUFFICIENT_PERMISSION") }
    let continueURL = try fields.text("continueUrl")
    if let continueURL, AbsoluteURL(continueURL) == nil {
      throw IdentityError("INVALID_CONTINUE_URI", "((expected an absolute URI with valid scheme and host))")
    }
    try accounts.emailCodes.checkSending(continueURL: continueURL)
    var request = CodeRequest(try purpose(kind, call: call))
    request.returnsLink = returnsLink
    request.continueURL = continueURL
    let sent = try await accounts.emailCodes.send(request, call.context)
    return JSON(fields: [
      ("kind", "identitytoolkit#GetOobConfirmationCodeResponse"), ("email", .string(sent.email)),
      ("oobCode", sent.code.map(JSON.string)), ("oobLink", sent.link.map(JSON.string)),
    ])
  }

  private static func purpose(_ kind: AccountCodeRecord.Kind, call: IdentityCall) throws -> CodeRequest.Purpose {
    let given = try call.fields.email()
    switch kind {
    case .emailSignIn, .passwordReset:
      guard let given else { throw IdentityError("MISSING_EMAIL") }
      return kind == .emailSignIn ? .signIn(given) : .passwordReset(given)
    case .verifyEmail, .recoverEmail:
      return .verification(of: try owner(given, call: call, orThrow: "INVALID_ID_TOKEN"))
    case .changeEmail:
      guard try call.fields.text("newEmail")?.isEmpty == false else { throw IdentityError("MISSING_NEW_EMAIL") }
      let owner = try owner(given, call: call, orThrow: "MISSING_ID_TOKEN")
      guard let newEmail = try call.fields.email("newEmail") else { throw IdentityError("MISSING_NEW_EMAIL") }
      return .change(of: owner, to: newEmail)
    }
  }

  private static func owner(_ email: EmailAddress?, call: IdentityCall, orThrow code: String) throws -> CodeRequest.Owner {
    if call.isPrivileged, call.fields["idToken"] == nil {
      guard let email else { throw IdentityError("MISSING_EMAIL") }
      return .email(email)
    }
    return .idToken(try call.fields.required("idToken", orThrow: code))
  }

  /// `accounts:resetPassword`: describes a code, or sets a password by one.
  static func resetPassword(_ accounts: AccountService, call: IdentityCall) async throws -> JSON {
    guard try accounts.settings(of: call.project).allowsPasswords else { throw AccountError.passwordSignInDisabled }
    let text = try call.fields.required("oobCode", orThrow: "MISSING_OOB_CODE")
    let code = try accounts.emailCodes.code(text, of: call.project)
    let described: [(String, JSON?)] = [
      ("kind", "identitytoolkit#ResetPasswordResponse"), ("requestType", .string(code.kind.rawValue)),
    ]
    guard let password = try call.fields.text("newPassword") else {
      return JSON(
        fields: described + [
          ("email", code.kind == .emailSignIn ? nil : .string(code.email)), ("newEmail", code.newEmail.map(JSON.string)),
        ])
    }
    let account = try await accounts.emailCodes.resetPassword(text, to: password, context: call.context)
    return JSON(fields: described + [("email", account.email.map(JSON.string))])
  }
}
