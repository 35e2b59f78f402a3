import Credentials
import Crypto
package import StorageCore
import TextFormats
package import TreeModel

struct IssuedCode {
  let kind: AccountCodeRecord.Kind
  let email: String
  var newEmail: String?
  let uid: String?
  let displayName: String?
  var continueURL: String?
  var isMailed = true

  init(_ kind: AccountCodeRecord.Kind, email: String, newEmail: String? = nil, uid: String?, displayName: String?) {
    self.kind = kind
    self.email = email
    self.newEmail = newEmail
    self.uid = uid
    self.displayName = displayName
  }
}

/// A code that is about to be sent: what is stored of it, and what leaves.
struct PreparedCode: Sendable {
  /// The secret itself.
  let code: String
  let link: String
  let record: AccountCodeRecord
  /// The letter for the outbox; none where no mail is sent.
  let outbox: [OutboxRecord]
}

/// Codes that are mailed: to sign in, to set a password, to confirm an address.
package struct EmailCodeService: Sendable {
  let accounts: AccountService

  init(_ accounts: AccountService) {
    self.accounts = accounts
  }

  private var options: AccountOptions { accounts.options }

  // MARK: Sending

  /// Makes a code and mails it.
  ///
  /// Where addresses are secret the answer is the same whether an account has the address or not, and so is what is stored before
  /// it: else the time would tell. A code that is mailed to nobody is known to nobody.
  package func send(_ request: CodeRequest, _ context: AccountContext) async throws -> SentCode {
    try checkSending(continueURL: request.continueURL)
    let target = try target(of: request.purpose, context: context)
    try throttle(to: target.newEmail ?? target.email, context: context)
    var order = IssuedCode(
      target.kind, email: target.email, newEmail: target.newEmail, uid: target.record?.uid,
      displayName: target.record?.displayName)
    order.continueURL = request.continueURL
    order.isMailed = target.isKnown && !request.returnsLink
    let prepared = prepare(order, context: context)
    try await accounts.change(
      context.project, by: context.actor(for: target.record?.uid ?? ""), outbox: prepared.outbox
    ) { transaction in transaction.put(.code(prepared.record)) }
    guard target.isKnown else { return SentCode(email: target.email) }
    announce(prepared, context: context)
    guard request.returnsLink else { return SentCode(email: target.email) }
    return SentCode(email: target.email, code: prepared.code, link: prepared.link)
  }

  /// Refuses a request whose link could not lead back to this server, or whose continue URL is not allowed.
  ///
  /// - Throws: `AccountError/unauthorizedDomain`, `AccountError/unknownServerAddress`
  package func checkSending(continueURL: String?) throws {
    if let continueURL, !mayContinue(at: continueURL) { throw AccountError.unauthorizedDomain }
    guard options.isDevelopment || options.publicURL != nil else { throw AccountError.unknownServerAddress }
  }

  /// Refuses links that sign in where a tenant's players do not sign in by them.
  ///
  /// - Throws: `AccountError/emailLinksDisabled`
  package func checkLinks(in project: AccountProject) throws {
    guard try accounts.settings(of: project).allowsEmailLinks else { throw AccountError.emailLinksDisabled }
  }

  /// Whether a mailed link may continue to an address. Without this check everybody with an API key could send players
  /// anywhere.
  package func mayContinue(at url: String) -> Bool {
    guard let url = AbsoluteURL(url) else { return false }
    return options.isDevelopment || url.host.map(options.authorizedDomains.contains) ?? false
  }

  private struct Target {
    let kind: AccountCodeRecord.Kind
    let email: String
    var newEmail: String?
    let record: AccountRecord?
    /// Whether somebody is to get the letter; if not, nobody is told so.
    var isKnown = true
  }

  /// Whom a code is for: the address that was given, or that of the token's account.
  private func target(of purpose: CodeRequest.Purpose, context: AccountContext) throws -> Target {
    switch purpose {
    case .signIn(let email):
      try checkLinks(in: context.project)
      return Target(kind: .emailSignIn, email: email.text, record: nil)
    case .passwordReset(let email):
      let record = try accounts.account(.email(email.text), of: context.project)
      let hidesAddresses = try accounts.settings(of: context.project).hidesAddresses
      guard record != nil || hidesAddresses else { throw AccountError.unknownEmail }
      return Target(kind: .passwordReset, email: email.text, record: record, isKnown: record != nil)
    case .verification(let owner):
      let record = try account(of: owner, context: context, changes: false)
      guard let email = record.email else { throw AccountError.noEmail }
      return Target(kind: .verifyEmail, email: email, record: record)
    case .change(let owner, let newEmail):
      let record = try account(of: owner, context: context, changes: true)
      guard let email = record.email else { throw AccountError.noEmail }
      let settings = try accounts.settings(of: context.project)
      let isTaken =
        try !settings.allowsDuplicateEmails && accounts.account(.email(newEmail.text), of: context.project) != nil
      // An administrator may know.
      guard !isTaken || settings.hidesAddresses && context.administrator == nil else { throw AccountError.emailTaken }
      return Target(kind: .changeEmail, email: email, newEmail: newEmail.text, record: record, isKnown: !isTaken)
    }
  }

  private func account(of owner: CodeRequest.Owner, context: AccountContext, changes: Bool) throws -> AccountRecord {
    switch owner {
    case .email(let email):
      guard let record = try accounts.account(.email(email.text), of: context.project) else {
        throw AccountError.unknownAccount
      }
      return record
    case .idToken(let text):
      let token = try accounts.verified(text, of: context.project)
      let record = try accounts.account(of: token, in: context.project)
      if changes {
        try AccountRules.checkRecent(token, account: record, options: options, at: accounts.clock.now())
      }
      return record
    }
  }

  /// Limits mails per client and per recipient.
  func throttle(to email: String, context: AccountContext) throws {
    guard !options.isDevelopment, context.administrator == nil else { return }
    let isAdmitted = accounts.throttle.admitsCode(
      to: EmailAddress.limitKey(email), from: context.network, at: accounts.clock.now())
    guard isAdmitted else { throw AccountError.tooManyCodes }
  }

  /// Makes a code, and the letter that brings it.
  func prepare(_ order: IssuedCode, context: AccountContext) -> PreparedCode {
    let code = accounts.newRefreshToken().text
    let lifetime = order.kind == .recoverEmail ? options.recoveryLifetime : options.codeLifetime
    let now = accounts.clock.now()
    let record = AccountCodeRecord(
      hash: Self.hash(of: code, within: context.project.scope), kind: order.kind, email: order.email, newEmail: order.newEmail,
      uid: order.uid,
      expiresAt: now + lifetime)
    let link = link(with: code, order: order, context: context)
    let letter = CodeMail(
      project: context.project.name, kind: order.kind,
      to: order.kind == .changeEmail ? order.newEmail ?? order.email : order.email, newEmail: order.newEmail,
      displayName: order.displayName, locales: context.locales, link: link)
    let message = order.isMailed ? accounts.delivery.mail?.message(for: letter) : nil
    let outbox = message.map { message in
      [
        OutboxRecord(
          key: "account-code/\(Base64.encode(record.hash, as: .url))", outlet: message.outlet, payload: message.payload,
          cause: nil, state: .waiting, attempts: 0, nextAttemptAt: now, lastError: nil, createdAt: now)
      ]
    }
    return PreparedCode(code: code, link: link, record: record, outbox: outbox ?? [])
  }

  /// What the player clicks on. Its parameters are those of Firebase's own action links, which applications may handle.
  private func link(with code: String, order: IssuedCode, context: AccountContext) -> String {
    var parameters = [("mode", order.kind.mode), ("oobCode", code), ("apiKey", context.apiKey)]
    // The page is to speak as the mail does; emulators' links always name a language.
    if let locale = context.locales.first ?? (options.isDevelopment ? "en" : nil) { parameters.append(("lang", locale)) }
    if let tenant = context.project.scope.tenant { parameters.append(("tenantId", tenant)) }
    if let continueURL = order.continueURL { parameters.append(("continueUrl", continueURL)) }
    let query = parameters.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    return "\(context.serverURL)\(options.isDevelopment ? "/emulator/action" : "/__/auth/action")?\(query)"
  }

  /// What a code is found by: that of one tenant is none of another's.
  static func hash(of code: String, within scope: AccountScope) -> [UInt8] {
    let text = scope.tenant.map { "\($0)/\(code)" } ?? code
    return Array(SHA256.hash(data: Array(text.utf8)))
  }

  /// Keeps a code for the development endpoints, and prints it.
  func announce(_ code: PreparedCode, context: AccountContext) {
    guard options.isDevelopment else { return }
    let (record, kind) = (code.record, code.record.kind.rawValue)
    accounts.sentCodes.add(
      MailedCode(
        project: context.project.scopeName, email: record.email, newEmail: record.newEmail, kind: kind, code: code.code,
        link: code.link))
    accounts.delivery.announce("To \(record.newEmail ?? record.email), \(kind): \(code.link)")
  }

  /// The codes that were mailed, for development.
  package func mailed(of project: AccountProject) -> [MailedCode] { accounts.sentCodes.mailed(of: project.scopeName) }

  // MARK: Redeeming

  /// A mailed code, if it is valid; looking it up does not use it up.
  ///
  /// - Throws: `AccountError/invalidCode`, `AccountError/expiredCode`
  package func code(_ text: String, of project: AccountProject) throws -> AccountCodeRecord {
    let row = try accounts.read { snapshot in
      try snapshot.accountRow(in: project.namespace, key: .code(hash: Self.hash(of: text, within: project.scope)))
    }
    guard case .code(let code)? = row else { throw AccountError.invalidCode }
    guard code.expiresAt > accounts.clock.now() else { throw AccountError.expiredCode }
    return code
  }

  /// Sets a password by a code.
  package func resetPassword(_ text: String, to password: String, context: AccountContext) async throws -> AccountRecord {
    let code = try code(text, of: context.project)
    guard code.kind == .passwordReset else { throw AccountError.invalidCode }
    try accounts.settings(of: context.project).passwordPolicy.check(password)
    let hash = try await accounts.hash(password, of: code.email, for: context)
    let record = try await accounts.change(context.project, by: context.actor(for: code.uid ?? "")) { transaction in
      let (before, stored) = try transaction.redeem(code.hash)
      guard before.email == stored.email else { throw AccountError.invalidCode }
      var record = before
      transaction.setPassword(hash, of: &record)
      record.isEmailVerified = true
      // The reader of the mail owns the account now; other sign-in methods, which somebody else may have added, are removed.
      if !before.isEmailVerified { record.providers = [] }
      try transaction.save(&record, from: before)
      return record
    }
    accounts.sentCodes.remove(code: text)
    accounts.throttle.clear(context.project.limitKey(code.email))
    return record
  }

  /// Does what a code is for: confirms an address, changes it, or takes a change back.
  package func apply(_ text: String, context: AccountContext) async throws -> UpdatedAccount {
    let code = try code(text, of: context.project)
    do {
      let (before, record) = try await applied(code, in: context.project)
      accounts.sentCodes.remove(code: text)
      return UpdatedAccount(account: record, newEmail: record.email == before.email ? nil : record.email)
    } catch let error as AccountError where error == .emailTaken && options.followsEmulator {
      // Elsewhere the code stays good: the other account may give the address up.
      try await accounts.change(context.project, by: .user(uid: code.uid ?? "")) { $0.remove(.code(hash: code.hash)) }
      accounts.sentCodes.remove(code: text)
      throw error
    }
  }

  /// - Returns: the account as it was, and as it is.
  private func applied(_ code: AccountCodeRecord, in project: AccountProject) async throws -> (AccountRecord, AccountRecord) {
    try await accounts.change(project, by: .user(uid: code.uid ?? "")) { transaction in
      let (before, stored) = try transaction.redeem(code.hash)
      var record = before
      switch stored.kind {
      case .verifyEmail:
        guard before.email == stored.email else { throw AccountError.invalidCode }
        record.isEmailVerified = true
      case .changeEmail:
        guard let newEmail = stored.newEmail, before.email == stored.email else { throw AccountError.invalidCode }
        if record.initialEmail == nil { record.initialEmail = before.email }
        record.email = newEmail
        record.isEmailVerified = true
        record.validSince = transaction.seconds
      case .recoverEmail:
        guard before.initialEmail == stored.email else { throw AccountError.invalidCode }
        record.email = stored.email
        record.initialEmail = nil
        record.isEmailVerified = true
        record.validSince = transaction.seconds
      case .emailSignIn, .passwordReset: throw AccountError.invalidCode
      }
      try transaction.save(&record, from: before)
      return (before, record)
    }
  }

  /// Signs in by a code that was mailed.
  ///
  /// - `idToken`: the account that gets the address; nil for the account that has it, or a new one.
  package func signIn(email: EmailAddress, code text: String, idToken: String?, context: AccountContext) async throws
    -> SignedInAccount
  {
    let email = email.text
    try checkLinks(in: context.project)
    let code = try code(text, of: context.project)
    guard code.kind == .emailSignIn else { throw AccountError.invalidCode }
    guard code.email == email else { throw AccountError.wrongCodeEmail }
    let linking = try accounts.caller(idToken, of: context.project)
    let uid = accounts.newUID()
    let token = accounts.newRefreshToken()
    let followsEmulator = options.followsEmulator
    let (session, isNew) = try await accounts.change(by: .user(uid: linking?.uid ?? uid), askingFor: context) {
      transaction -> (AccountSession, Bool) in
      _ = try transaction.code(code.hash)
      transaction.remove(.code(hash: code.hash))
      transaction.signInMethod = "emailLink"
      let owner = try transaction.account(.email(email))
      let caller: AccountRecord? = if let linking { try transaction.caller(linking) } else { nil }
      if let caller, let owner, owner.uid != caller.uid { throw AccountError.emailTaken }
      let before = caller ?? owner
      if before?.isDisabled == true { throw AccountError.disabledAccount }
      if before == nil, try !transaction.settings.allowsSignUp { throw AccountError.signUpDisabled }
      let seconds = transaction.seconds
      let prove: @Sendable (inout AccountRecord) -> Void = { record in
        // A password that was set before anybody had proved to own the address is not the owner's.
        if linking == nil, record.email == email, !record.isEmailVerified, !followsEmulator {
          record.dropUnproved(at: seconds)
        }
        if linking != nil, record.email != email { record.validSince = seconds }
        record.email = email
        record.isEmailVerified = true
        record.signsInByLink = true
      }
      if let before, linking == nil || (followsEmulator && !before.secondFactors.isEmpty) {
        return (try transaction.enter(before, by: "password", token: token, edit: prove), false)
      }
      var record = before ?? transaction.newAccount(uid, from: context.network)
      prove(&record)
      transaction.stamp(&record, by: "password")
      try transaction.save(&record, from: before)
      guard let linking else { return (try transaction.open(record, by: "password", token: token), true) }
      return (try transaction.link(record, by: "password", of: linking, token: token), false)
    }
    accounts.sentCodes.remove(code: text)
    return try accounts.signedIn(session, isNew: isNew, in: context.project)
  }
}

extension AccountCodeRecord.Kind {
  /// How a link says what it is for.
  var mode: String {
    switch self {
    case .passwordReset: "resetPassword"
    case .verifyEmail: "verifyEmail"
    case .emailSignIn: "signIn"
    case .changeEmail: "verifyAndChangeEmail"
    case .recoverEmail: "recoverEmail"
    }
  }
}
