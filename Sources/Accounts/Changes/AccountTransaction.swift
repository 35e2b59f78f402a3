import Credentials
import StorageCore
import TreeModel

/// The changes to accounts within one commit, on the writer. Reads see the batch so far; if the change is refused in the end,
/// everything it staged is rolled back.
final class AccountTransaction {
  let namespace: NamespaceID
  /// The accounts that the change may touch: others are not there.
  let scope: AccountScope
  /// How far ahead of the clock a stamp may lie, in milliseconds: as far as the checks of tokens allow.
  static let skew = TokenTimes.skew * 1000

  /// The commit's time, unless that is ahead of the clock: everything that the change stamps has this one.
  let time: Int64
  let session: any CommitSession
  let options: AccountOptions
  /// What the deployment's functions decided about this change; nil where they are not asked.
  let decisions: SignInDecisions?
  /// How the player comes in, where functions are to know it more closely than tokens say; nil for as the tokens say.
  var signInMethod: String?
  /// What the player brought from a provider, for functions that are to get it.
  var credential: IdentityAssertion?
  /// Accounts that changed, by uid, as functions may see them.
  private var publicNodes: [String: TreeNode] = [:]
  private(set) var revocations: [AccountRevocation] = []
  /// The storage error that made the change fail; nil if there was none.
  private(set) var failure: StorageError?

  init(
    namespace: NamespaceID, scope: AccountScope, time: Int64, session: any CommitSession, options: AccountOptions,
    decisions: SignInDecisions? = nil
  ) {
    self.namespace = namespace
    self.scope = scope
    self.options = options
    self.decisions = decisions
    self.time = time
    self.session = session
  }

  /// The commit's time in seconds.
  var seconds: Int64 { time / 1000 }

  var assignments: [WriteOperation.Assignment] {
    publicNodes.sorted { $0.key < $1.key }.map { uid, node in
      WriteOperation.Assignment(path: AccountRecord.path(of: uid), value: .node(WriteNode(node)))
    }
  }

  // MARK: Looking

  func account(_ uid: String) throws -> AccountRecord? {
    try withoutFutureStamps(try read { try session.account(uid, within: scope, in: namespace) })
  }

  func account(_ identifier: AccountIdentifier) throws -> AccountRecord? {
    try withoutFutureStamps(try read { try session.account(identifier, within: scope, in: namespace) })
  }

  /// The account without stamps of a clock that ran ahead. Sessions that ended by those stamps go, because what is left does
  /// not say so any more.
  private func withoutFutureStamps(_ record: AccountRecord?) throws -> AccountRecord? {
    guard let record, let changed = record.withoutFutureStamps(to: time, skew: Self.skew) else { return record }
    let sessions = try read { try session.refreshTokens(in: namespace, of: record.uid) }
    for row in sessions where row.issuedAt < record.bornAt || row.issuedAt / 1000 < record.validSince ?? 0 {
      remove(.refreshToken(hash: row.hash))
    }
    put(.account(changed))
    return changed
  }

  /// The session of a refresh token; nil if there is none.
  func session(_ hash: [UInt8]) throws -> RefreshTokenRecord? {
    let row = try read { try session.accountRow(in: namespace, key: .refreshToken(hash: hash)) }
    guard case .refreshToken(let token)? = row else { return nil }
    return token
  }

  var settings: AccountSettings {
    get throws { try read { try session.accountSettings(within: scope, in: namespace) } }
  }

  /// The account of a token, if the token is still valid for it.
  func caller(_ token: IDToken) throws -> AccountRecord {
    try AccountRules.caller(token, account: try account(token.uid))
  }

  /// Signs a player in: the deployment's functions may refuse it, or change what the account and its tokens say.
  ///
  /// - `extra`: the claims of a custom token, as JSON text.
  /// - `factor`: what the player showed beside the first credential.
  func open(
    _ record: AccountRecord, by provider: String, extra: String? = nil, factor: UsedFactor? = nil, token: RefreshToken
  ) throws -> AccountSession {
    let (record, extra) = try decided(record, by: provider, extra: extra, factor: factor)
    return try begin(record, by: provider, extra: extra, factor: factor, authTime: nil, token: token)
  }

  /// Begins a session with this refresh token, asking nobody: the player is signed in already.
  ///
  /// The oldest sessions of an account that has too many end.
  ///
  /// - `extra`: the claims of a custom token, as JSON text.
  /// - `factor`: what the player showed beside the first credential.
  /// - `authTime`: when the player signed in, in seconds; nil for now.
  func begin(
    _ record: AccountRecord, by provider: String, extra: String? = nil, factor: UsedFactor? = nil, authTime: Int64? = nil,
    token: RefreshToken
  ) throws -> AccountSession {
    let authTime = authTime ?? seconds
    // An account created in this commit has no sessions yet.
    if record.bornAt < time {
      let others = try read { try session.refreshTokens(in: namespace, of: record.uid) }
      for old in others.dropLast(options.sessionsMax - 1) { remove(.refreshToken(hash: old.hash)) }
    }
    put(
      .refreshToken(
        RefreshTokenRecord(
          hash: token.hash, uid: record.uid, provider: provider, claims: extra, secondFactor: factor?.text,
          authTime: authTime, issuedAt: time)))
    return AccountSession(
      record: record, provider: provider, authTime: authTime, refreshToken: token.text, time: time, extraClaims: extra,
      secondFactor: factor)
  }

  /// Continues a session under a new refresh token, with its second factor and its sign-in time.
  ///
  /// - `isRenewed`: whether the player has just done what takes a recent sign-in; then it counts as one.
  func open(_ record: AccountRecord, by provider: String, of idToken: IDToken, isRenewed: Bool, token: RefreshToken)
    throws -> AccountSession
  {
    // The anonymous account has its first way to sign in now.
    let isFirst = idToken.provider == "anonymous"
    return try begin(
      record, by: provider, factor: idToken.secondFactor, authTime: isRenewed || isFirst ? nil : idToken.authTime, token: token)
  }

  /// Continues a session with another way to sign in, which the player has just shown: the deployment's functions are asked
  /// as about any session that begins.
  func link(_ record: AccountRecord, by provider: String, of idToken: IDToken, token: RefreshToken) throws -> AccountSession {
    let (record, extra) = try decided(record, by: provider, extra: nil, factor: idToken.secondFactor)
    let authTime = idToken.provider == "anonymous" ? nil : idToken.authTime
    return try begin(
      record, by: provider, extra: extra, factor: idToken.secondFactor, authTime: authTime, token: token)
  }

  /// Signs in after the first credential: with a session, or by waiting for a second factor if the account has any.
  ///
  /// - `edit`: what the sign-in changes. While a second factor is missing nothing is changed.
  func enter(
    _ before: AccountRecord, by provider: String, token: RefreshToken,
    edit: @escaping @Sendable (inout AccountRecord) -> Void
  ) throws -> AccountSession {
    guard before.secondFactors.isEmpty else {
      return AccountSession(
        record: before, provider: provider, authTime: seconds, refreshToken: "", time: time, pendingEdit: edit)
    }
    var record = before
    edit(&record)
    stamp(&record, by: provider)
    try save(&record, from: before)
    return try open(record, by: provider, token: token)
  }

  /// Notes a sign-in in the record.
  func stamp(_ record: inout AccountRecord, by provider: String) {
    record.lastLoginAt = time
    record.lastRefreshAt = time
    record.signInProvider = provider
  }

  /// A mailed code, if it is valid; looking it up does not use it up.
  func code(_ hash: [UInt8]) throws -> AccountCodeRecord {
    let row = try read { try session.accountRow(in: namespace, key: .code(hash: hash)) }
    guard case .code(let code)? = row else { throw AccountError.invalidCode }
    guard code.expiresAt > time else { throw AccountError.expiredCode }
    return code
  }

  // MARK: Changing

  /// Stores an account, moves its look-up records (address, phone number, identities) and notes which tokens became void.
  ///
  /// - `record`: the account as it is to be; left as it was stored, with what was noted about its links.
  /// - `before`: the account as it was; nil for a new one.
  /// - `isByOwner`: whether the player did it, whose next token is on its way.
  /// - `grace`: how long that may take, in milliseconds.
  /// - `isRevoking`: whether the tokens of before are made void, be it once more within a second.
  /// - Throws: `AccountError/emailTaken`, `AccountError/phoneNumberTaken`, `AccountError/identityTaken`,
  ///   `AccountError/uidTaken`; ``SignInDecisions/Open`` where the deployment's functions have to be asked first
  func save(
    _ record: inout AccountRecord, from before: AccountRecord?, isByOwner: Bool = false, grace: Int64 = 0,
    isRevoking: Bool = false
  ) throws {
    record.tenant = before == nil ? scope.tenant : before?.tenant
    if before == nil { try checkNew(record.uid) }
    try decideCreation(of: &record, from: before)
    let old = before?.identifiers ?? []
    let new = record.identifiers
    for identifier in new.subtracting(old) { try claim(identifier, for: record.uid) }
    for identifier in old.subtracting(new) { try release(identifier, of: record.uid) }
    if let before {
      noteLinks(&record, before: before)
      try rememberGivenUp(by: before, as: record)
    }
    put(.account(record))
    publicNodes[record.uid] = record.publicNode
    try noteRevocation(of: record, from: before, isByOwner: isByOwner, grace: grace)
    if let before, let validSince = record.validSince {
      let isReplaced = record.password != before.password || record.email != before.email
      if isRevoking || validSince != before.validSince || isReplaced && validSince == seconds {
        try endSessions(ofTheSecondOf: validSince, account: record)
      }
    }
  }

  /// A uid is one player's, of whatever tenant: the tree and the ledger know players by nothing else. And a player who comes
  /// to a tenant that is gone by now does not come into being.
  private func checkNew(_ uid: String) throws {
    guard try read({ try session.account(in: namespace, uid: uid) }) == nil else { throw AccountError.uidTaken }
    if scope.tenant != nil { _ = try settings }
  }

  /// Removes an account with its look-up records, and revokes its tokens.
  func delete(_ record: AccountRecord) throws {
    for identifier in record.identifiers { try release(identifier, of: record.uid) }
    try rememberLeaving(record)
    session.removeAccountRow(.account(record.uid), in: namespace)
    publicNodes[record.uid] = TreeNode.absent
    revoke(AccountRevocation(uid: record.uid, reason: .deleted, notBefore: .max, effectiveAt: time))
  }

  /// A new password revokes the tokens that were issued before.
  func setPassword(_ hash: String, of record: inout AccountRecord) {
    record.password = hash
    record.passwordUpdatedAt = time
    record.validSince = seconds
  }

  /// Uses up a code.
  ///
  /// - Returns: the account that it acts on, and what it said.
  func redeem(_ hash: [UInt8]) throws -> (AccountRecord, AccountCodeRecord) {
    let code = try code(hash)
    guard let uid = code.uid, let record = try account(uid) else { throw AccountError.invalidCode }
    guard !record.isDisabled else { throw AccountError.disabledAccount }
    remove(.code(hash: hash))
    return (record, code)
  }

  func put(_ row: AccountRow) { session.put(row, in: namespace) }

  /// The value of a record that is looked up by its key; nil if there is none.
  func keyedRecord(of kind: String, key: String) throws -> String? {
    try read { try session.record(in: namespace, kind: kind, key: key) }
  }

  /// Stores a record that is looked up by its key; nil removes it.
  func putRecord(of kind: String, key: String, value: String?) {
    session.put(KeyedRecordChange(kind: kind, key: key, value: value), in: namespace)
  }

  func remove(_ key: AccountRow.Key) { session.removeAccountRow(key, in: namespace) }

  func revoke(_ revocation: AccountRevocation) {
    put(.revocation(revocation))
    revocations.append(revocation)
  }

  // MARK: -

  private func claim(_ identifier: AccountIdentifier, for uid: String) throws {
    let owner = try account(identifier)
    if let owner, owner.uid != uid, owner.identifiers.contains(identifier) {
      switch identifier.kind {
      case "email":
        guard try settings.allowsDuplicateEmails else { throw AccountError.emailTaken }
        return
      case "phone": throw AccountError.phoneNumberTaken
      default: throw AccountError.identityTaken
      }
    }
    put(.identifier(identifier, uid: uid))
  }

  private func release(_ identifier: AccountIdentifier, of uid: String) throws {
    // With duplicate addresses the look-up record may be another account's.
    guard try account(identifier)?.uid == uid else { return }
    remove(.identifier(identifier))
  }

  private func noteLinks(_ record: inout AccountRecord, before: AccountRecord) {
    let old = Set(before.providerIDs)
    let new = Set(record.providerIDs)
    for id in new.subtracting(old) { record.links[id] = before.isAnonymous }
    for id in old.subtracting(new) { record.links[id] = nil }
    if before.isAnonymous, !record.isAnonymous { record.linkedAt = time }
  }

  /// Ends what began in the second from which on the account's tokens are good, or later by a clock that ran ahead: tokens tell
  /// seconds only, so a sign-in with the old password a moment before would stay. What goes on gets its session after this.
  private func endSessions(ofTheSecondOf validSince: Int64, account record: AccountRecord) throws {
    for var row in try read({ try session.refreshTokens(in: namespace, of: record.uid) })
    where row.issuedAt / 1000 == validSince || row.issuedAt > time {
      guard !AccountRules.isOutgrown(row, account: record) else { continue }
      row.issuedAt = -time
      put(.refreshToken(row))
    }
  }

  private func noteRevocation(
    of record: AccountRecord, from before: AccountRecord?, isByOwner: Bool, grace: Int64
  ) throws {
    if record.isDisabled {
      if before?.isDisabled != true {
        revoke(AccountRevocation(uid: record.uid, reason: .disabled, notBefore: .max, effectiveAt: time))
      }
    } else if before?.isDisabled == true {
      // What was issued before may be used again, unless it is void for another reason.
      revoke(AccountRevocation(uid: record.uid, reason: .revoked, notBefore: record.validSince ?? 0, effectiveAt: time))
    } else if let validSince = record.validSince, validSince != before?.validSince, before != nil {
      revoke(
        AccountRevocation(
          uid: record.uid, reason: .revoked, notBefore: validSince, effectiveAt: isByOwner ? time + grace : time))
    } else if before == nil {
      // A uid may be deleted and created again: the tokens of its first owner stay revoked.
      let row = try read { try session.accountRow(in: namespace, key: .revocation(record.uid)) }
      if row != nil {
        revoke(AccountRevocation(uid: record.uid, reason: .revoked, notBefore: seconds, effectiveAt: time))
      }
    }
  }

  func read<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as StorageError {
      failure = error
      throw AccountError(error)
    }
  }
}

/// What the deployment's functions decide before an account is made and before a session begins.
extension AccountTransaction {
  /// Asks about an account that comes into being, or that is anonymous no more.
  func decideCreation(of record: inout AccountRecord, from before: AccountRecord?) throws {
    let isUpgrade = before.map { $0.isAnonymous && !record.isAnonymous } ?? false
    guard let decisions, before == nil || isUpgrade, let method = record.signInProvider else { return }
    let question = SignInQuestion(
      occasion: .creation, account: record, method: signInMethod ?? method, isUpgrade: isUpgrade, secondFactor: nil,
      credential: credential)
    try decisions.allowance(for: question)?.apply(to: &record, options: options)
  }

  /// Asks about a session that is to begin.
  ///
  /// - Returns: the account as the session finds it, and the claims of its tokens.
  func decided(_ account: AccountRecord, by provider: String, extra: String?, factor: UsedFactor?) throws
    -> (AccountRecord, String?)
  {
    guard let decisions else { return (account, extra) }
    guard !account.isDisabled else { throw AccountError.disabledAccount }
    let question = SignInQuestion(
      occasion: .signIn, account: account, method: signInMethod ?? provider, isUpgrade: false, secondFactor: factor,
      credential: credential)
    guard let allowance = try decisions.allowance(for: question) else { return (account, extra) }
    var record = account
    try allowance.apply(to: &record, options: options)
    guard !record.isDisabled else { throw AccountError.disabledAccount }
    if record != account { try save(&record, from: account) }
    return (record, try allowance.extraClaims(beside: extra))
  }
}
