package import Credentials
package import StorageCore
import TextFormats
import TreeModel

/// What a refresh gives.
package struct RefreshedTokens: Sendable, Hashable {
  package let uid: String
  package let tokens: IssuedTokens
}

extension AccountService {
  /// How often it is noted that a session is in use, in milliseconds.
  private static let sessionNoteInterval: Int64 = 86_400_000

  // MARK: ID tokens

  /// Verifies an ID token of a project; whether it is still good for the account is another question.
  ///
  /// - Throws: `AccountError/invalidIDToken`, `AccountError/expiredToken`, `AccountError/tenantMismatch`
  package func verified(_ text: String, of project: AccountProject) throws -> IDToken {
    let token: IDToken
    do throws(TokenError) {
      token = try issuer.verify(text, project: project.name, at: clock.now())
    } catch {
      throw error == .expired ? AccountError.expiredToken : .invalidIDToken
    }
    guard project.scope.admits(token.tenant) else { throw AccountError.tenantMismatch }
    return token
  }

  /// The tenant that an ID token claims to be of, unchecked: where to look. Whether it is true is checked with the token.
  package func tenant(claimedBy idToken: String) -> String? {
    (try? WebToken(parsing: idToken))?.claims["firebase"]?["tenant"]?.string
  }

  /// The tenant of the session that a refresh token stands for; nil for none, and for a token that stands for nothing.
  package func tenant(ofRefreshToken text: String, of project: AccountProject) throws -> String? {
    guard let token = refreshToken(shownAs: text) else { return nil }
    return try read { snapshot in
      guard case .refreshToken(let row)? = try snapshot.accountRow(in: project.namespace, key: .refreshToken(hash: token.hash))
      else { return nil }
      return try snapshot.account(in: project.namespace, uid: row.uid)?.tenant
    }
  }

  /// The token of a request that may carry one; an empty text counts as none.
  func caller(_ idToken: String?, of project: AccountProject) throws -> IDToken? {
    guard let idToken, !idToken.isEmpty else { return nil }
    return try verified(idToken, of: project)
  }

  /// The account that a token stands for, if the token is still good for it.
  package func account(of token: IDToken, in project: AccountProject) throws -> AccountRecord {
    try AccountRules.caller(token, account: try account(token.uid, of: project))
  }

  /// What the player of a new session gets: tokens, or the wait for a second factor.
  func result(of session: AccountSession, in project: AccountProject) throws -> SignInResult {
    if let edit = session.pendingEdit { return secondFactors.needed(session, edit: edit, in: project) }
    let idToken = try idToken(session.record, signIn: session.signIn, project: project, at: session.time)
    let refreshToken = shown(session.refreshToken, of: session.record)
    return .tokens(IssuedTokens(idToken: idToken, refreshToken: refreshToken, lifetime: IDTokenIssuer.lifetime))
  }

  /// A refresh token as its client gets it. Emulators' say whose they are, and their tools read that; so does that of a tenant's
  /// player where they are followed.
  private func shown(_ token: String, of record: AccountRecord) -> String {
    guard options.followsEmulator, let tenant = record.tenant else { return token }
    let json: JSON = ["tenantId": .string(tenant), "token": .string(token)]
    return Base64.encode(Array(json.compactText.utf8), as: .url)
  }

  /// The refresh token that a client brings; nil for what cannot be one.
  private func refreshToken(shownAs text: String) -> RefreshToken? {
    if let token = RefreshToken(text) { return token }
    guard options.followsEmulator, text.utf8.count <= 1000, let bytes = Base64.decode(text.utf8),
      let json = try? JSONParser.parse(bytes)
    else { return nil }
    return json["token"]?.string.flatMap { RefreshToken($0) }
  }

  func signedIn(_ session: AccountSession, isNew: Bool = false, in project: AccountProject) throws -> SignedInAccount {
    SignedInAccount(account: session.record, isNew: isNew, result: try result(of: session, in: project))
  }

  private func idToken(_ record: AccountRecord, signIn: SignIn, project: AccountProject, at time: Int64) throws -> String {
    var subject = TokenSubject(record)
    subject.tellsVerificationAlone = options.followsEmulator
    do throws(TokenError) {
      return try issuer.token(for: subject, signIn: signIn, project: project.name, at: time)
    } catch {
      throw AccountError.unavailable("The token could not be signed: \(error)")
    }
  }

  // MARK: Refresh

  /// Exchanges a refresh token for an ID token.
  ///
  /// - Throws: `AccountError/invalidRefreshToken`, `AccountError/unknownAccount`, `AccountError/disabledAccount`,
  ///   `AccountError/expiredToken`
  package func refresh(_ text: String, of project: AccountProject) async throws -> RefreshedTokens {
    guard let token = refreshToken(shownAs: text) else { throw AccountError.invalidRefreshToken }
    let (row, found) = try read { (snapshot) -> (RefreshTokenRecord?, AccountRecord?) in
      guard case .refreshToken(let row)? = try snapshot.accountRow(in: project.namespace, key: .refreshToken(hash: token.hash))
      else { return (nil, nil) }
      return (row, try snapshot.account(in: project.namespace, uid: row.uid))
    }
    guard let row else { throw AccountError.invalidRefreshToken }
    guard let record = found, row.endedAt ?? row.issuedAt >= record.bornAt else { throw AccountError.unknownAccount }
    guard project.scope.admits(record.tenant) else { throw AccountError.tenantMismatch }
    guard !record.isDisabled else { throw AccountError.disabledAccount }
    let now = clock.now()
    guard AccountRules.end(of: row, account: record, options: options, at: now) == nil else {
      throw AccountError.expiredToken
    }
    let isOutgrown = AccountRules.isOutgrown(row, account: record)
    let isAhead = record.withoutFutureStamps(to: now, skew: AccountTransaction.skew) != nil
    var session = AccountSession(
      record: record, provider: isOutgrown ? record.signInProvider ?? row.provider : row.provider, authTime: row.authTime,
      refreshToken: text, time: isAhead ? now : max(now, max(record.validSince ?? 0, 0) * 1000))
    session.extraClaims = row.claims
    session.secondFactor = row.secondFactor.flatMap(UsedFactor.init)
    if isAhead || now - (record.lastRefreshAt ?? 0) >= options.refreshNoteInterval || Self.isDue(row, record: record, at: now) {
      try await noteRefresh(row, of: project)
    }
    let idToken = try idToken(record, signIn: session.signIn, project: project, at: session.time)
    return RefreshedTokens(
      uid: record.uid, tokens: IssuedTokens(idToken: idToken, refreshToken: text, lifetime: IDTokenIssuer.lifetime))
  }

  /// Whether it is to be noted that a session is in use.
  private static func isDue(_ session: RefreshTokenRecord, record: AccountRecord, at now: Int64) -> Bool {
    now - session.issuedAt >= sessionNoteInterval && !AccountRules.isOutgrown(session, account: record)
  }

  private func noteRefresh(_ seen: RefreshTokenRecord, of project: AccountProject) async throws {
    let options = options
    try await change(project, by: .user(uid: seen.uid)) { transaction in
      // What ended in the meantime stays ended.
      guard var record = try transaction.account(seen.uid), var session = try transaction.session(seen.hash),
        AccountRules.end(of: session, account: record, options: options, at: transaction.time) == nil
      else { throw AccountError.expiredToken }
      let before = record
      if transaction.time - (record.lastRefreshAt ?? 0) >= options.refreshNoteInterval {
        record.lastRefreshAt = transaction.time
        try transaction.save(&record, from: before)
      }
      guard Self.isDue(session, record: record, at: transaction.time) else { return }
      // A second back: what is made void within this second makes it void too.
      session.issuedAt = transaction.time - 1000
      transaction.put(.refreshToken(session))
    }
  }

  /// The sessions of an account that go on, the newest first.
  ///
  /// - Throws: `AccountError/unknownAccount`
  package func sessions(of uid: String, in project: AccountProject) throws -> [RefreshTokenRecord] {
    let (found, all) = try read { snapshot in
      (
        try snapshot.account(uid, within: project.scope, in: project.namespace),
        try snapshot.refreshTokens(in: project.namespace, of: uid)
      )
    }
    guard let found else { throw AccountError.unknownAccount }
    let (now, options) = (clock.now(), options)
    guard !found.isDisabled else { return [] }
    return all.filter { AccountRules.end(of: $0, account: found, options: options, at: now) == nil }
      .sorted { $0.issuedAt > $1.issuedAt }
  }

  /// Ends every session of an account; its tokens are void.
  ///
  /// - Throws: `AccountError/unknownAccount`
  package func endSessions(of uid: String, in project: AccountProject, by actor: Actor) async throws -> AccountRecord {
    try await change(project, by: actor) { transaction in
      guard let before = try transaction.account(uid) else { throw AccountError.unknownAccount }
      var record = before
      record.validSince = max(record.validSince ?? 0, transaction.seconds)
      try transaction.save(&record, from: before, isRevoking: true)
      return record
    }
  }

  // MARK: Session cookies

  /// Makes a session cookie of an ID token.
  ///
  /// - `duration`: how long it is to be good, in seconds; nil for as long as possible.
  package func sessionCookie(for idToken: String, duration: Int64?, of project: AccountProject) throws -> String {
    let duration = duration ?? IDTokenIssuer.cookieLifetimes.upperBound
    guard IDTokenIssuer.cookieLifetimes.contains(duration) else { throw AccountError.invalidCookieDuration }
    let token = try verified(idToken, of: project)
    _ = try account(of: token, in: project)
    do throws(TokenError) {
      return try issuer.sessionCookie(for: token, duration: duration, at: clock.now())
    } catch {
      throw AccountError.unavailable("The cookie could not be signed: \(error)")
    }
  }
}

/// A player who has just signed in: what the tokens of the answer are made from.
struct AccountSession: Sendable {
  let record: AccountRecord
  let provider: String
  /// In seconds since 1970.
  let authTime: Int64
  /// Empty while a second factor is missing.
  let refreshToken: String
  /// When, in milliseconds since 1970: the tokens bear the same reading of the clock as what the commit stored.
  let time: Int64
  /// The claims of a custom token, as JSON text.
  var extraClaims: String?
  /// What was shown beside the first credential.
  var secondFactor: UsedFactor?
  /// For a player who has to show a second factor first: what the sign-in changes once it is shown.
  var pendingEdit: (@Sendable (inout AccountRecord) -> Void)?

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
    tenant = record.tenant
    email = record.email
    isEmailVerified = record.isEmailVerified
    phoneNumber = record.phoneNumber
    displayName = record.displayName
    photoURL = record.photoURL
    customClaims = record.claims.flatMap { try? JSONParser.parse($0) } ?? .null
    identities = record.providers.map { Identity(provider: $0.id, ids: [$0.rawID]) }
  }
}
