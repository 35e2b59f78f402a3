import Credentials
import StorageCore
package import TreeModel

extension AccountService {
  /// How often it is noted that a session is in use, in milliseconds.
  private static let sessionNoteInterval: Int64 = 86_400_000

  // MARK: ID tokens

  /// Verifies an ID token of a project; whether the account still stands behind it is another question.
  ///
  /// - Throws: `INVALID_ID_TOKEN`, `TOKEN_EXPIRED`.
  func verified(_ text: String, of project: AccountProject) throws(AccountError) -> IDToken {
    do throws(TokenError) {
      return try issuer.verify(text, project: project.name, at: clock.now())
    } catch {
      throw AccountError(error == .expired ? "TOKEN_EXPIRED" : "INVALID_ID_TOKEN")
    }
  }

  /// The token of a call that may carry one.
  func caller(of call: IdentityCall) throws(AccountError) -> IDToken? {
    guard let text = try call.fields.text("idToken"), !text.isEmpty else { return nil }
    return try verified(text, of: call.project)
  }

  /// The members of an answer that lets somebody in, or asks for a second factor.
  func tokens(_ session: AccountSession, of project: AccountProject) throws(AccountError) -> [(String, JSON?)] {
    if let edit = session.pendingEdit { return secondFactorNeeded(session, edit, of: project) }
    return [
      ("idToken", .string(try idToken(session.record, session.signIn, project, at: session.time))),
      ("refreshToken", .string(session.refreshToken)), ("expiresIn", .string(String(IDTokenIssuer.lifetime))),
    ]
  }

  private func idToken(_ record: AccountRecord, _ signIn: SignIn, _ project: AccountProject, at time: Int64)
    throws(AccountError) -> String
  {
    do throws(TokenError) {
      return try issuer.token(for: TokenSubject(record), signIn, project: project.name, at: time)
    } catch {
      throw .unavailable("The token could not be signed: \(error)")
    }
  }

  // MARK: Refresh

  /// `/v1/token` (spec: auth-protocol §2.3).
  package func refresh(_ call: IdentityCall) async throws(AccountError) -> JSON {
    guard let grant = try call.fields.text("grantType"), !grant.isEmpty else { throw AccountError("MISSING_GRANT_TYPE") }
    guard grant == "refresh_token" else { throw AccountError("INVALID_GRANT_TYPE") }
    let text = try call.required("refreshToken", "MISSING_REFRESH_TOKEN")
    guard let token = RefreshToken(text) else { throw AccountError("INVALID_REFRESH_TOKEN") }
    let project = call.project
    let (row, found) = try look { (snapshot) throws(StorageError) -> (RefreshTokenRecord?, AccountRecord?) in
      guard case .refreshToken(let row)? = try snapshot.accountRow(in: project.namespace, .refreshToken(hash: token.hash))
      else { return (nil, nil) }
      return (row, try snapshot.account(in: project.namespace, uid: row.uid))
    }
    guard let row else { throw AccountError("INVALID_REFRESH_TOKEN") }
    guard let record = found, row.issuedAt >= record.bornAt else { throw AccountError("USER_NOT_FOUND") }
    guard !record.isDisabled else { throw AccountError("USER_DISABLED") }
    let now = clock.now()
    guard AccountRules.end(of: row, record, options, at: now) == nil else { throw AccountError("TOKEN_EXPIRED") }
    let isOutgrown = AccountRules.isOutgrown(row, record)
    let isAhead = record.withoutFutureStamps(to: now, skew: AccountTransaction.skew) != nil
    let session = AccountSession(
      record: record, provider: isOutgrown ? record.signInProvider ?? row.provider : row.provider, extraClaims: row.claims,
      authTime: row.authTime, refreshToken: text, secondFactor: row.secondFactor.flatMap(UsedFactor.init),
      time: isAhead ? now : max(now, max(record.validSince ?? 0, 0) * 1000))
    if isAhead || now - (record.lastRefreshAt ?? 0) >= options.refreshNoteInterval || Self.isDue(row, record, at: now) {
      try await noteRefresh(row, of: project)
    }
    let idToken = try idToken(record, session.signIn, project, at: session.time)
    return JSON(fields: [
      ("id_token", .string(idToken)), ("access_token", .string(idToken)),
      ("expires_in", .string(String(IDTokenIssuer.lifetime))), ("refresh_token", .string(text)), ("token_type", "Bearer"),
      ("user_id", .string(record.uid)), ("project_id", .string(project.number)),
    ])
  }

  /// Whether it is to be noted that a session is in use.
  private static func isDue(_ session: RefreshTokenRecord, _ record: AccountRecord, at now: Int64) -> Bool {
    now - session.issuedAt >= sessionNoteInterval && !AccountRules.isOutgrown(session, record)
  }

  private func noteRefresh(_ seen: RefreshTokenRecord, of project: AccountProject) async throws(AccountError) {
    let options = options
    try await change(project, by: .user(uid: seen.uid)) { (bench) throws(AccountError) in
      guard var record = try bench.account(seen.uid) else { return }
      let before = record
      if bench.time - (record.lastRefreshAt ?? 0) >= options.refreshNoteInterval {
        record.lastRefreshAt = bench.time
        try bench.save(record, from: before)
      }
      // What ended in the meantime stays ended.
      guard var session = try bench.session(seen.hash), Self.isDue(session, record, at: bench.time),
        AccountRules.end(of: session, record, options, at: bench.time) == nil
      else { return }
      // A second back: what is made void within this second makes it void too.
      session.issuedAt = bench.time - 1000
      bench.put(.refreshToken(session))
    }
  }

  // MARK: Custom tokens

  /// `accounts:signInWithCustomToken` (spec: auth-protocol §2.3, §3.3).
  package func signInWithCustomToken(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let text = try call.required("token", "MISSING_CUSTOM_TOKEN")
    let custom = try customToken(text)
    var extra: String?
    if custom.claims.object?.isEmpty == false { extra = custom.claims.compactText }
    let token = newRefreshToken()
    let claims = extra
    let (session, isNew) = try await change(call.project, by: .user(uid: custom.uid)) {
      (bench) throws(AccountError) -> (AccountSession, Bool) in
      let before = try bench.account(custom.uid)
      if before?.isDisabled == true { throw AccountError("USER_DISABLED") }
      var record = before ?? bench.newAccount(custom.uid, from: call.address)
      record.isCustom = true
      bench.stamp(&record, by: "custom")
      try bench.save(record, from: before)
      return (try bench.open(record, by: "custom", extra: claims, token), before == nil)
    }
    return JSON(
      fields: [("kind", "identitytoolkit#VerifyCustomTokenResponse"), ("isNewUser", .bool(isNew))]
        + (try tokens(session, of: call.project)))
  }

  private func customToken(_ text: String) throws(AccountError) -> CustomToken {
    do throws(CustomTokenError) {
      if options.isDevelopment { return try CustomToken(unverified: text) }
      return try CustomToken(text, at: clock.now()) { identities.serviceAccountKey($0, $1) }
    } catch {
      throw AccountError(wire: error.wireMessage)
    }
  }

  // MARK: Session cookies

  /// `:createSessionCookie` (spec: auth-protocol §2.7).
  package func createSessionCookie(_ call: IdentityCall) throws(AccountError) -> JSON {
    let text = try call.required("idToken", "MISSING_ID_TOKEN")
    let duration = try call.fields.int("validDuration") ?? IDTokenIssuer.cookieLifetimes.upperBound
    guard IDTokenIssuer.cookieLifetimes.contains(duration) else { throw AccountError("INVALID_DURATION") }
    let token = try verified(text, of: call.project)
    _ = try AccountRules.caller(token, try account(token.uid, of: call.project))
    do throws(TokenError) {
      return ["sessionCookie": .string(try issuer.sessionCookie(for: token, duration: duration, at: clock.now()))]
    } catch {
      throw .unavailable("The cookie could not be signed: \(error)")
    }
  }
}

/// A player who has just come in: what the tokens of the answer are made from.
struct AccountSession: Sendable {
  let record: AccountRecord
  let provider: String
  /// The claims of a custom token, as JSON text.
  let extraClaims: String?
  /// In seconds since 1970.
  let authTime: Int64
  /// Empty while a second factor is missing.
  let refreshToken: String
  /// What was shown beside the first credential.
  let secondFactor: UsedFactor?
  /// For a player who has to show a second factor first: what the sign-in changes once it is shown.
  let pendingEdit: (@Sendable (inout AccountRecord) -> Void)?
  /// When, in milliseconds since 1970: what the tokens bear is of the same reading as what the commit stored.
  let time: Int64

  init(
    record: AccountRecord, provider: String, extraClaims: String? = nil, authTime: Int64, refreshToken: String,
    secondFactor: UsedFactor? = nil, pendingEdit: (@Sendable (inout AccountRecord) -> Void)? = nil, time: Int64
  ) {
    self.record = record
    self.provider = provider
    self.extraClaims = extraClaims
    self.authTime = authTime
    self.refreshToken = refreshToken
    self.secondFactor = secondFactor
    self.pendingEdit = pendingEdit
    self.time = time
  }

  var signIn: SignIn {
    SignIn(
      provider: provider, time: authTime,
      extraClaims: extraClaims.flatMap { try? JSONParser.parse($0) } ?? .null, secondFactor: secondFactor)
  }
}

extension TokenSubject {
  /// What tokens say of an account.
  init(_ record: AccountRecord) {
    self.init(uid: record.uid)
    email = record.email
    isEmailVerified = record.isEmailVerified
    phoneNumber = record.phoneNumber
    displayName = record.displayName
    photoURL = record.photoURL
    customClaims = record.claims.flatMap { try? JSONParser.parse($0) } ?? .null
    identities = record.providers.map { Identity(provider: $0.id, ids: [$0.rawID]) }
  }
}
