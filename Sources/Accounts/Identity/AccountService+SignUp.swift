import Credentials
import StorageCore
package import TreeModel

extension AccountService {
  /// `accounts:signUp` (spec: auth-protocol §2.1): an anonymous account, one with a password, a link, or an
  /// administrator's.
  package func signUp(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let fields = call.fields
    if call.isPrivileged, fields["idToken"] == nil { return try await create(call) }
    guard fields["localId"] == nil else { throw AccountError("UNEXPECTED_PARAMETER", "User ID") }
    let email = try fields.text("email")
    let password = try fields.text("password")
    guard email != nil || password != nil || fields["idToken"] != nil else { return try await signUpAnonymously(call) }
    guard let email else { throw AccountError("MISSING_EMAIL") }
    guard let password else { throw AccountError("MISSING_PASSWORD") }
    let settings = try settings(of: call.project)
    guard settings.allowsPasswords else { throw AccountError("OPERATION_NOT_ALLOWED") }
    let address = try EmailAddress.normalized(email)
    return try await signUp(call, address, password, settings)
  }

  private func signUpAnonymously(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let settings = try settings(of: call.project)
    guard settings.allowsAnonymous, settings.allowsSignUp else { throw AccountError("ADMIN_ONLY_OPERATION") }
    try throttle.countSignUp(from: call.address, at: clock.now())
    let uid = newUID()
    let token = newRefreshToken()
    let session = try await change(call.project, by: .user(uid: uid)) { (bench) throws(AccountError) in
      var record = bench.newAccount(uid, from: call.address)
      bench.stamp(&record, by: "anonymous")
      try bench.save(record, from: nil)
      return try bench.open(record, by: "anonymous", token)
    }
    return try signedUp(session, call)
  }

  private func signUp(_ call: IdentityCall, _ email: String, _ password: String, _ settings: AccountSettings)
    async throws(AccountError) -> JSON
  {
    let owner = try account(.email(email), of: call.project)
    // Of a token only the signature is looked at here: whether it is still good is decided with the rest, but for the
    // repetition of a link whose answer was lost. That one brings the token from before the link.
    if let owner, !settings.allowsDuplicateEmails {
      guard let token = try caller(of: call), token.uid == owner.uid else { throw AccountError("EMAIL_EXISTS") }
      if owner.password != nil { return try await repeatLink(call, owner, password) }
    }
    try settings.passwordPolicy.check(password)
    let linking = try caller(of: call)
    if let linking {
      // Before the hash, which is expensive; decided once more on the writer.
      let seen = try AccountRules.caller(linking, try account(linking.uid, of: call.project))
      try AccountRules.checkRecent(linking, seen, options, at: clock.now())
      guard seen.secondFactors.isEmpty || seen.email == email else { throw AccountError.unverifiedChange }
    } else {
      guard settings.allowsSignUp else { throw AccountError("ADMIN_ONLY_OPERATION") }
      try throttle.countSignUp(from: call.address, at: clock.now())
    }
    let hash = try await hash(password, of: email, call)
    let displayName = try call.fields.text("displayName")
    // Emulators take second factors from anybody; tests of games make their players so.
    let given = options.isDevelopment && linking == nil ? try call.fields.list("mfaInfo") : nil
    let factors = try SecondFactorDraft.list(given ?? [], keepsIDs: false, newID: newUID)
    let uid = linking?.uid ?? newUID()
    let refreshToken = newRefreshToken()
    let grace = options.revocationGrace
    let session = try await change(call.project, by: .user(uid: uid)) { (bench) throws(AccountError) in
      let before: AccountRecord? = if let linking { try bench.caller(linking) } else { nil }
      var record = before ?? bench.newAccount(uid, from: call.address)
      if record.email != email {
        guard record.secondFactors.isEmpty else { throw AccountError.unverifiedChange }
        record.isEmailVerified = false
      }
      record.email = email
      record.displayName = displayName ?? record.displayName
      for draft in factors { record.secondFactors.append(try draft.factor(beside: [], at: bench.time)) }
      bench.setPassword(hash, of: &record)
      bench.stamp(&record, by: "password")
      try bench.save(record, from: before, isByOwner: true, grace: grace)
      guard let linking else { return try bench.open(record, by: "password", refreshToken) }
      return try bench.open(record, by: "password", of: linking, isRenewed: true, refreshToken)
    }
    return try signedUp(session, call)
  }

  /// A link whose first answer was lost: the address is the caller's own, and the password is right. So it is a sign-in.
  private func repeatLink(_ call: IdentityCall, _ owner: AccountRecord, _ password: String) async throws(AccountError) -> JSON {
    guard !owner.isDisabled else { throw AccountError("USER_DISABLED") }
    let key = owner.email ?? owner.uid
    try throttle.checkAttempt(key, from: call.address, at: clock.now())
    guard case .right = try await check(password, against: owner.password, of: key, call) else {
      throttle.noteFailure(key, from: call.address, at: clock.now())
      throw AccountError("EMAIL_EXISTS")
    }
    let session = try await signIn(owner, by: "password", token: newRefreshToken(), call)
    return try signedUp(session, call)
  }

  private func signedUp(_ session: AccountSession, _ call: IdentityCall) throws(AccountError) -> JSON {
    JSON(
      fields: [
        ("kind", "identitytoolkit#SignupNewUserResponse"), ("localId", .string(session.record.uid)),
        ("email", session.record.email.map(JSON.string)), ("displayName", session.record.displayName.map(JSON.string)),
      ] + (try tokens(session, of: call.project)))
  }

  /// An account that an administrator makes: it has no tokens.
  private func create(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let fields = call.fields
    let uid = try Self.uid(fields.text("localId")) ?? newUID()
    var draft = AccountDraft()
    try draft.read(fields, newID: newUID)
    var hash: String?
    if let password = try fields.text("password") {
      try settings(of: call.project).passwordPolicy.check(password)
      hash = try await self.hash(password, of: uid, call)
    }
    let (filled, passwordHash) = (draft, hash)
    let record = try await change(call.project, by: call.actor) { (bench) throws(AccountError) in
      var record = AccountRecord(uid: uid, createdAt: bench.time)
      try filled.fill(&record, at: bench.time)
      if let passwordHash { bench.setPassword(passwordHash, of: &record) }
      try bench.save(record, from: nil)
      return record
    }
    return JSON(fields: [
      ("kind", "identitytoolkit#SignupNewUserResponse"), ("localId", .string(record.uid)),
      ("email", record.email.map(JSON.string)), ("displayName", record.displayName.map(JSON.string)),
    ])
  }

  /// A uid that somebody chose: 1 to 128 characters.
  static func uid(_ text: String?) throws(AccountError) -> String? {
    guard let text else { return nil }
    guard let uid = UserID(text), text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw AccountError("INVALID_LOCAL_ID", "A uid has 1 to 128 characters, and no control characters.")
    }
    return uid.text
  }
}

extension AccountTransaction {
  /// A new password: what was issued before is void.
  func setPassword(_ hash: String, of record: inout AccountRecord) {
    record.password = hash
    record.passwordUpdatedAt = time
    record.validSince = seconds
  }
}
