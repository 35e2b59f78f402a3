import Credentials
import StorageCore
package import TreeModel

extension AccountService {
  /// `accounts:update` (spec: auth-protocol §2.2): profile, address, password, links and unlinks; by its player, by an
  /// administrator, or by a code that was mailed.
  package func update(_ call: IdentityCall) async throws(AccountError) -> JSON {
    if let code = try call.fields.text("oobCode"), !code.isEmpty { return try await apply(code, call) }
    if call.isPrivileged, call.fields["idToken"] == nil { return try await updateAsAdministrator(call) }
    guard let token = try caller(of: call) else {
      throw AccountError("INVALID_REQ_TYPE", "Unsupported request parameters.")
    }
    return try await updateOwn(call, token)
  }

  // MARK: By an administrator

  private func updateAsAdministrator(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let uid = try call.required("localId", "MISSING_LOCAL_ID")
    var draft = AccountDraft()
    try draft.read(call.fields, newID: newUID)
    let edits = try AccountEdits(call.fields, isPrivileged: true)
    var hash: String?
    if let password = edits.password {
      try settings(of: call.project).passwordPolicy.check(password)
      hash = try await self.hash(password, of: uid, call)
    }
    let (filled, passwordHash) = (draft, hash)
    let record = try await change(call.project, by: call.actor) { (bench) throws(AccountError) in
      guard let before = try bench.account(uid) else { throw AccountError("USER_NOT_FOUND") }
      var record = before
      if let passwordHash { bench.setPassword(passwordHash, of: &record) }
      try filled.fill(&record, at: bench.time)
      edits.apply(to: &record)
      if record.email != before.email { record.validSince = max(record.validSince ?? 0, bench.seconds) }
      try bench.save(record, from: before)
      return record
    }
    if hash != nil { throttle.clear(record.email ?? record.uid) }
    return Self.updated(record, newEmail: nil, tokens: [])
  }

  // MARK: By the player

  private func updateOwn(_ call: IdentityCall, _ token: IDToken) async throws(AccountError) -> JSON {
    let fields = call.fields
    guard fields["customAttributes"] == nil, fields["linkProviderUserInfo"] == nil else {
      throw AccountError("INSUFFICIENT_PERMISSION")
    }
    guard fields["disableUser"] == nil else { throw AccountError("OPERATION_NOT_ALLOWED") }
    let edits = try AccountEdits(fields, isPrivileged: false)
    let settings = try settings(of: call.project)
    let seen = try AccountRules.caller(token, try account(token.uid, of: call.project))
    let email = try fields.text("email").map { (text) throws(AccountError) in try EmailAddress.normalized(text) }
    let changesEmail = email != nil && email != seen.email
    if changesEmail || edits.password != nil {
      try AccountRules.checkRecent(token, seen, options, at: clock.now())
    }
    if let email, changesEmail {
      if !settings.allowsDuplicateEmails, let owner = try account(.email(email), of: call.project), owner.uid != seen.uid {
        throw AccountError("EMAIL_EXISTS")
      }
      // An address that is known to nobody may be set by its link only; a first address may be set as ever.
      guard seen.secondFactors.isEmpty, !settings.hidesAddresses || seen.email == nil else {
        throw AccountError.unverifiedChange
      }
    }
    var hash: String?
    if let password = edits.password {
      try settings.passwordPolicy.check(password)
      hash = try await self.hash(password, of: seen.uid, call)
    }
    var recovery: Recovery?
    if changesEmail, token.provider != "anonymous", let old = seen.email, seen.initialEmail == nil {
      try throttleCodes(to: old, call)
      recovery = Recovery(letter: code(.recoverEmail, to: old, uid: seen.uid, displayName: seen.displayName, call))
    }
    let change = OwnChange(
      token: token, seenEmail: seen.email, email: email, passwordHash: hash, isRevoking: fields["validSince"] != nil,
      edits: edits, recovery: recovery)
    return try await carryOut(change, call)
  }

  /// The code that takes a change of address back.
  private struct Recovery: Sendable {
    let letter: PreparedCode
  }

  private struct OwnChange: Sendable {
    let token: IDToken
    let seenEmail: String?
    let email: String?
    let passwordHash: String?
    let isRevoking: Bool
    let edits: AccountEdits
    let recovery: Recovery?
  }

  private func carryOut(_ own: OwnChange, _ call: IdentityCall) async throws(AccountError) -> JSON {
    let refreshToken = newRefreshToken()
    let grace = options.revocationGrace
    let (before, session, record) = try await change(
      call.project, by: .user(uid: own.token.uid), outbox: own.recovery?.letter.outbox ?? []
    ) { (bench) throws(AccountError) -> (AccountRecord, AccountSession?, AccountRecord) in
      let before = try bench.caller(own.token)
      // The letter is for the address that was seen.
      guard before.email == own.seenEmail else { throw AccountError("TOO_MANY_ATTEMPTS_TRY_LATER", "Try again.") }
      var record = before
      if let email = own.email, email != before.email {
        guard before.secondFactors.isEmpty else { throw AccountError.unverifiedChange }
        record.email = email
        record.isEmailVerified = false
        record.signsInByLink = false
        record.validSince = bench.seconds
      }
      if let hash = own.passwordHash { bench.setPassword(hash, of: &record) }
      if own.isRevoking { record.validSince = bench.seconds }
      own.edits.apply(to: &record)
      if let recovery = own.recovery {
        record.initialEmail = before.email
        bench.put(.code(recovery.letter.record))
      }
      let provider = own.passwordHash != nil && record.email != nil ? "password" : own.token.provider
      // Not by comparing validSince: two changes may fall into one second.
      let changesEmail = own.email != nil && own.email != before.email
      let isNewSession = changesEmail || own.passwordHash != nil || own.isRevoking
      let opens = isNewSession && record.validSince != nil && !provider.isEmpty
      if opens { bench.stamp(&record, by: provider) }
      try bench.save(record, from: before, isByOwner: true, grace: grace)
      return (
        before,
        opens
          ? try bench.open(
            record, by: provider, of: own.token, isRenewed: changesEmail || own.passwordHash != nil, refreshToken) : nil, record
      )
    }
    if let recovery = own.recovery { post(recovery.letter, call) }
    let newEmail = record.email == before.email ? nil : record.email
    let tokens = try session.map { (session) throws(AccountError) in try self.tokens(session, of: call.project) } ?? []
    return Self.updated(record, newEmail: newEmail, tokens: tokens)
  }

  static func updated(_ record: AccountRecord, newEmail: String?, tokens: [(String, JSON?)]) -> JSON {
    JSON(
      fields: [
        ("kind", "identitytoolkit#SetAccountInfoResponse"), ("localId", .string(record.uid)),
        ("email", record.email.map(JSON.string)), ("emailVerified", record.email == nil ? nil : .bool(record.isEmailVerified)),
        ("displayName", record.displayName.map(JSON.string)), ("photoUrl", record.photoURL.map(JSON.string)),
        ("providerUserInfo", UserJSON.providers(record)), ("newEmail", newEmail.map(JSON.string)),
      ] + tokens)
  }
}
