import Credentials
package import StorageCore
package import TreeModel

extension AccountService {
  /// `accounts:signInWithPassword` (spec: auth-protocol §2.3).
  package func signInWithPassword(_ call: IdentityCall) async throws(AccountError) -> JSON {
    guard let text = try call.fields.text("email") else { throw AccountError("MISSING_EMAIL") }
    let email = try EmailAddress.normalized(text)
    let password = try call.required("password", "MISSING_PASSWORD")
    let settings = try settings(of: call.project)
    guard settings.allowsPasswords else { throw AccountError("PASSWORD_LOGIN_DISABLED") }
    try throttle.checkAttempt(email, from: call.address, at: clock.now())
    let record = try account(.email(email), of: call.project)
    if !settings.hidesAddresses, record?.isDisabled == true { throw AccountError("USER_DISABLED") }
    let verdict = try await check(password, against: record?.password, of: email, call)
    guard let record, case .right(let isOutdated) = verdict else {
      throttle.noteFailure(email, from: call.address, at: clock.now())
      let code = record == nil ? "EMAIL_NOT_FOUND" : "INVALID_PASSWORD"
      throw AccountError(settings.hidesAddresses ? "INVALID_LOGIN_CREDENTIALS" : code)
    }
    if record.isDisabled { throw AccountError("USER_DISABLED") }
    throttle.noteSuccess(email, from: call.address)
    // What came from elsewhere, or was cheaper, is hashed anew now that the password is known.
    let upgraded = isOutdated ? await upgraded(password, of: email, call) : nil
    let session = try await signIn(record, by: "password", token: newRefreshToken(), call, upgradedPassword: upgraded)
    return JSON(
      fields: [
        ("kind", "identitytoolkit#VerifyPasswordResponse"), ("registered", true), ("localId", .string(session.record.uid)),
        ("email", session.record.email.map(JSON.string)), ("displayName", session.record.displayName.map(JSON.string)),
        ("profilePicture", session.record.photoURL.map(JSON.string)),
      ] + (try tokens(session, of: call.project)))
  }

  /// Begins a session of an account whose password was checked.
  ///
  /// - `seen`: the account as it was looked at: if its password is another by now, the check says nothing.
  func signIn(
    _ seen: AccountRecord, by provider: String, token: RefreshToken, _ call: IdentityCall, upgradedPassword: String? = nil
  ) async throws(AccountError) -> AccountSession {
    try await change(call.project, by: .user(uid: seen.uid)) { (bench) throws(AccountError) in
      guard let before = try bench.account(seen.uid) else { throw AccountError("USER_NOT_FOUND") }
      guard !before.isDisabled else { throw AccountError("USER_DISABLED") }
      guard before.password == seen.password else { throw AccountError("INVALID_LOGIN_CREDENTIALS") }
      return try bench.enter(before, by: provider, token) { record in
        if let upgradedPassword { record.password = upgradedPassword }
      }
    }
  }

  /// `accounts:lookup` (spec: auth-protocol §2.3, §2.7).
  package func lookup(_ call: IdentityCall) throws(AccountError) -> JSON {
    let kind: JSON = "identitytoolkit#GetAccountInfoResponse"
    if call.isPrivileged, call.fields["idToken"] == nil {
      let users = try lookedUp(call).map { UserJSON.administrators($0) }
      return JSON(fields: [("kind", kind), ("users", users.isEmpty ? nil : .array(users))])
    }
    guard let token = try caller(of: call) else { throw AccountError("MISSING_ID_TOKEN") }
    let record = try AccountRules.caller(token, try account(token.uid, of: call.project))
    return ["kind": kind, "users": [UserJSON.own(record)]]
  }

  /// The accounts that an administrator asks for, each once.
  private func lookedUp(_ call: IdentityCall) throws(AccountError) -> [AccountRecord] {
    let fields = call.fields
    let uids = try fields.texts("localId") ?? []
    var identifiers: [AccountIdentifier] = []
    for email in try fields.texts("email") ?? [] { identifiers.append(.email(email.lowercased())) }
    for email in try fields.texts("initialEmail") ?? [] { identifiers.append(.email(email.lowercased())) }
    for number in try fields.texts("phoneNumber") ?? [] { identifiers.append(.phone(number)) }
    for entry in try fields.list("federatedUserId") ?? [] {
      let entry = IdentityFields(entry)
      guard let provider = try entry.text("providerId"), let rawID = try entry.text("rawId") else { continue }
      identifiers.append(AccountIdentifier(kind: provider, value: rawID))
    }
    guard uids.count + identifiers.count <= 1000 else {
      throw .invalidArgument("At most 1000 accounts are looked up at once.")
    }
    let namespace = call.project.namespace
    return try look { (snapshot) throws(StorageError) in
      var found: [AccountRecord] = []
      for uid in uids { if let record = try snapshot.account(in: namespace, uid: uid) { found.append(record) } }
      for one in identifiers { if let record = try snapshot.account(in: namespace, one) { found.append(record) } }
      var seen: Set<ExactKey> = []
      return found.filter { seen.insert(ExactKey(text: $0.uid)).inserted }
    }
  }

  /// `accounts:delete` (spec: auth-protocol §2.3, §2.7).
  package func delete(_ call: IdentityCall) async throws(AccountError) -> JSON {
    if call.isPrivileged {
      let uid = try call.required("localId", "MISSING_LOCAL_ID")
      try await remove(uid, of: call.project, by: call.actor)
    } else {
      guard let token = try caller(of: call) else { throw AccountError("MISSING_ID_TOKEN") }
      let options = options
      try await change(call.project, by: .user(uid: token.uid)) { (bench) throws(AccountError) in
        let record = try bench.caller(token)
        try AccountRules.checkRecent(token, record, options, at: bench.time)
        try bench.delete(record)
      }
    }
    return ["kind": "identitytoolkit#DeleteAccountResponse"]
  }

  /// Removes an account, as an administrator.
  package func remove(_ uid: String, of project: AccountProject, by actor: StorageCore.Actor) async throws(AccountError) {
    try await change(project, by: actor) { (bench) throws(AccountError) in
      guard let record = try bench.account(uid) else { throw AccountError("USER_NOT_FOUND") }
      try bench.delete(record)
    }
  }

  /// `accounts:createAuthUri` (spec: auth-protocol §2.3): how an address signs in.
  package func createAuthURI(_ call: IdentityCall) throws(AccountError) -> JSON {
    let identifier = try call.required("identifier", "MISSING_IDENTIFIER")
    let uri = try call.required("continueUri", "MISSING_CONTINUE_URI")
    let email: String
    do throws(AccountError) {
      email = try EmailAddress.normalized(identifier)
    } catch {
      throw AccountError("INVALID_IDENTIFIER")
    }
    guard AbsoluteURL(uri) != nil else { throw AccountError("INVALID_CONTINUE_URI") }
    let session = JSON.string(try call.fields.text("sessionId") ?? newUID())
    let kind: JSON = "identitytoolkit#CreateAuthUriResponse"
    let settings = try settings(of: call.project)
    guard !settings.hidesAddresses else { return ["kind": kind, "sessionId": session] }
    let record = try account(.email(email), of: call.project)
    // Where an address may be several people's, a provider's word leads to nobody: it says which of them comes.
    let isOneEach = !settings.allowsDuplicateEmails
    let providers = (record?.providerIDs ?? []).filter { $0 == "password" || (isOneEach && $0 != "phone") }
    var methods: [JSON] = []
    if record?.password != nil { methods.append("password") }
    if record?.signsInByLink == true { methods.append("emailLink") }
    if isOneEach { methods += (record?.providers ?? []).map { .string($0.id) } }
    let isRegistered = record.map { !isOneEach || !$0.providerIDs.isEmpty } ?? false
    return JSON(fields: [
      ("kind", kind), ("registered", .bool(isRegistered)), ("allProviders", .array(providers.map(JSON.string))),
      ("signinMethods", .array(methods)), ("sessionId", session),
    ])
  }
}
