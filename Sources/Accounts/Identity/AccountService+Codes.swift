import Credentials
import Crypto
package import StorageCore
import TextFormats
package import TreeModel

extension AccountService {
  private static let requestTypes: [Int64: String] = [
    1: "PASSWORD_RESET", 4: "VERIFY_EMAIL", 6: "EMAIL_SIGNIN", 7: "VERIFY_AND_CHANGE_EMAIL",
  ]

  // MARK: Sending

  /// `accounts:sendOobCode` (spec: auth-protocol §2.5).
  package func sendCode(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let fields = call.fields
    guard let type = try fields.choice("requestType", Self.requestTypes), type != "OOB_REQ_TYPE_UNSPECIFIED",
      let kind = AccountCodeRecord.Kind(rawValue: type), kind != .recoverEmail
    else { throw AccountError("MISSING_REQ_TYPE") }
    let returnsLink = try fields.bool("returnOobLink") ?? false
    guard !returnsLink || call.isPrivileged else { throw AccountError("INSUFFICIENT_PERMISSION") }
    let continueURL = try fields.text("continueUrl")
    if let continueURL {
      guard AbsoluteURL(continueURL) != nil else {
        throw AccountError("INVALID_CONTINUE_URI", "((expected an absolute URI with valid scheme and host))")
      }
      guard mayContinue(at: continueURL) else {
        throw AccountError("UNAUTHORIZED_DOMAIN", "The domain is not among those that this server is configured with.")
      }
    }
    guard options.isDevelopment || options.publicURL != nil else {
      throw AccountError("OPERATION_NOT_ALLOWED", "The server does not know its own address, which links would lead to.")
    }
    let target = try codeTarget(kind, call)
    let answer: [(String, JSON?)] = [
      ("kind", "identitytoolkit#GetOobConfirmationCodeResponse"), ("email", .string(target.email)),
    ]
    try throttleCodes(to: target.newEmail ?? target.email, call)
    // Nobody learns from the answer whether the address is known.
    guard target.isKnown else { return JSON(fields: answer) }
    let prepared = code(
      kind, to: target.email, newEmail: target.newEmail, uid: target.record?.uid, displayName: target.record?.displayName,
      continueURL: continueURL, call, mails: !returnsLink)
    try await change(call.project, by: call.actor(for: target.record?.uid ?? ""), outbox: prepared.outbox) {
      (bench) throws(AccountError) in
      bench.put(.code(prepared.record))
    }
    post(prepared, call)
    return JSON(
      fields: answer + (returnsLink ? [("oobCode", .string(prepared.code)), ("oobLink", .string(prepared.link))] : []))
  }

  /// Whether a link in a mail may go on to an address: not everybody who has a key may send players wherever they like.
  package func mayContinue(at url: String) -> Bool {
    guard let url = AbsoluteURL(url) else { return false }
    return options.isDevelopment || url.host.map(options.authorizedDomains.contains) ?? false
  }

  private struct CodeTarget {
    let email: String
    let newEmail: String?
    let record: AccountRecord?
    let isKnown: Bool
  }

  /// Whom a code is for: the address that was given, or that of the token's account.
  private func codeTarget(_ kind: AccountCodeRecord.Kind, _ call: IdentityCall) throws(AccountError) -> CodeTarget {
    let fields = call.fields
    let given = try fields.text("email").map { (text) throws(AccountError) in try EmailAddress.normalized(text) }
    switch kind {
    case .emailSignIn:
      guard let given else { throw AccountError("MISSING_EMAIL") }
      return CodeTarget(email: given, newEmail: nil, record: nil, isKnown: true)
    case .passwordReset:
      guard let given else { throw AccountError("MISSING_EMAIL") }
      let record = try account(.email(given), of: call.project)
      let hidesAddresses = try settings(of: call.project).hidesAddresses
      guard record != nil || hidesAddresses else { throw AccountError("EMAIL_NOT_FOUND") }
      return CodeTarget(email: given, newEmail: nil, record: record, isKnown: record != nil)
    case .verifyEmail, .changeEmail, .recoverEmail:
      let text = try fields.text("newEmail") ?? ""
      if kind == .changeEmail, text.isEmpty { throw AccountError("MISSING_NEW_EMAIL") }
      let record = try codeAccount(given, call, changes: kind == .changeEmail)
      guard let email = record.email else { throw AccountError("MISSING_EMAIL") }
      guard kind == .changeEmail else { return CodeTarget(email: email, newEmail: nil, record: record, isKnown: true) }
      let newEmail = try EmailAddress.normalized(text)
      let isTaken = try account(.email(newEmail), of: call.project) != nil
      if isTaken, !(try settings(of: call.project).allowsDuplicateEmails) { throw AccountError("EMAIL_EXISTS") }
      return CodeTarget(email: email, newEmail: newEmail, record: record, isKnown: true)
    }
  }

  private func codeAccount(_ email: String?, _ call: IdentityCall, changes: Bool) throws(AccountError) -> AccountRecord {
    if call.isPrivileged, call.fields["idToken"] == nil {
      guard let email else { throw AccountError("MISSING_EMAIL") }
      guard let record = try account(.email(email), of: call.project) else { throw AccountError("USER_NOT_FOUND") }
      return record
    }
    guard let token = try caller(of: call) else { throw AccountError(changes ? "MISSING_ID_TOKEN" : "INVALID_ID_TOKEN") }
    let record = try AccountRules.caller(token, try account(token.uid, of: call.project))
    if changes { try AccountRules.checkRecent(token, record, options, at: clock.now()) }
    return record
  }

  /// Refuses a mail that is one too many, for who asks or for whom it would go to.
  func throttleCodes(to email: String, _ call: IdentityCall) throws(AccountError) {
    guard !options.isDevelopment, !call.isPrivileged else { return }
    guard throttle.admitsCode(to: EmailAddress.limitKey(email), from: call.address, at: clock.now()) else {
      throw AccountError("RESET_PASSWORD_EXCEED_LIMIT")
    }
  }

  /// Makes a code, and the letter that brings it.
  func code(
    _ kind: AccountCodeRecord.Kind, to email: String, newEmail: String? = nil, uid: String?, displayName: String?,
    continueURL: String? = nil, _ call: IdentityCall, mails: Bool = true
  ) -> PreparedCode {
    let code = newRefreshToken().text
    let lifetime = kind == .recoverEmail ? options.recoveryLifetime : options.codeLifetime
    let now = clock.now()
    let record = AccountCodeRecord(
      hash: Self.codeHash(code), kind: kind, email: email, newEmail: newEmail, uid: uid, expiresAt: now + lifetime)
    var parameters = [("mode", kind.mode), ("oobCode", code), ("apiKey", call.apiKey)]
    // The page is to speak as the mail does; emulators' links always name a language.
    if let locale = call.locales.first ?? (options.isDevelopment ? "en" : nil) { parameters.append(("lang", locale)) }
    if let continueURL { parameters.append(("continueUrl", continueURL)) }
    let query = parameters.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    let link = "\(call.base)\(options.isDevelopment ? "/emulator/action" : "/__/auth/action")?\(query)"
    let letter = CodeMail(
      project: call.project.name, kind: kind, to: kind == .changeEmail ? newEmail ?? email : email, newEmail: newEmail,
      displayName: displayName, locales: call.locales, link: link)
    let message = mails ? mail?.message(for: letter) : nil
    let outbox = message.map { message in
      [
        OutboxRecord(
          key: "account-code/\(Base64.encode(record.hash, as: .url))", outlet: message.outlet, payload: message.payload,
          cause: nil, state: .waiting, attempts: 0, nextAttemptAt: now, lastError: nil, createdAt: now)
      ]
    }
    return PreparedCode(code: code, link: link, record: record, outbox: outbox ?? [])
  }

  static func codeHash(_ code: String) -> [UInt8] { Array(SHA256.hash(data: Array(code.utf8))) }

  /// Keeps a code where development looks it up, and says so.
  func post(_ code: PreparedCode, _ call: IdentityCall) {
    guard options.isDevelopment else { return }
    sentCodes.add(
      SentCodeStore.Letter(
        project: call.project.name, email: code.record.email, newEmail: code.record.newEmail, kind: code.record.kind.rawValue,
        code: code.code, link: code.link))
    note("To \(code.record.newEmail ?? code.record.email), \(code.record.kind.rawValue): \(code.link)")
  }

  // MARK: Redeeming

  /// A code that was mailed, if it is good; it is not used up by this.
  func storedCode(_ text: String, of project: AccountProject) throws(AccountError) -> AccountCodeRecord {
    let row = try look { (snapshot) throws(StorageError) in
      try snapshot.accountRow(in: project.namespace, .code(hash: Self.codeHash(text)))
    }
    guard case .code(let code)? = row else { throw AccountError("INVALID_OOB_CODE") }
    guard code.expiresAt > clock.now() else { throw AccountError("EXPIRED_OOB_CODE") }
    return code
  }

  /// `accounts:resetPassword`: describes a code, or sets a password by one (spec: auth-protocol §2.5).
  package func resetPassword(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let text = try call.required("oobCode", "MISSING_OOB_CODE")
    let code = try storedCode(text, of: call.project)
    guard let password = try call.fields.text("newPassword") else {
      return JSON(fields: [
        ("kind", "identitytoolkit#ResetPasswordResponse"), ("requestType", .string(code.kind.rawValue)),
        ("email", code.kind == .emailSignIn ? nil : .string(code.email)), ("newEmail", code.newEmail.map(JSON.string)),
      ])
    }
    guard code.kind == .passwordReset else { throw AccountError("INVALID_OOB_CODE") }
    try settings(of: call.project).passwordPolicy.check(password)
    let hash = try await hash(password, of: code.email, call)
    let record = try await change(call.project, by: call.actor(for: code.uid ?? "")) { (bench) throws(AccountError) in
      let (before, stored) = try bench.redeem(code.hash)
      guard before.email == stored.email else { throw AccountError("INVALID_OOB_CODE") }
      var record = before
      bench.setPassword(hash, of: &record)
      record.isEmailVerified = true
      // Whoever could read the mail owns the account now; other ways in, which somebody else may have added, go.
      if !before.isEmailVerified { record.providers = [] }
      try bench.save(record, from: before)
      return record
    }
    sentCodes.remove(code: text)
    throttle.clear(code.email)
    return JSON(fields: [
      ("kind", "identitytoolkit#ResetPasswordResponse"), ("requestType", .string(code.kind.rawValue)),
      ("email", record.email.map(JSON.string)),
    ])
  }

  /// Does what a code is for: `accounts:update` with `oobCode`.
  func apply(_ text: String, _ call: IdentityCall) async throws(AccountError) -> JSON {
    let code = try storedCode(text, of: call.project)
    let (before, record) = try await change(call.project, by: .user(uid: code.uid ?? "")) {
      (bench) throws(AccountError) -> (AccountRecord, AccountRecord) in
      let (before, stored) = try bench.redeem(code.hash)
      var record = before
      switch stored.kind {
      case .verifyEmail:
        guard before.email == stored.email else { throw AccountError("INVALID_OOB_CODE") }
        record.isEmailVerified = true
      case .changeEmail:
        guard let newEmail = stored.newEmail, before.email == stored.email else { throw AccountError("INVALID_OOB_CODE") }
        if record.initialEmail == nil { record.initialEmail = before.email }
        record.email = newEmail
        record.isEmailVerified = true
        record.validSince = bench.seconds
      case .recoverEmail:
        guard before.initialEmail == stored.email else { throw AccountError("INVALID_OOB_CODE") }
        record.email = stored.email
        record.initialEmail = nil
        record.isEmailVerified = true
        record.validSince = bench.seconds
      case .emailSignIn, .passwordReset: throw AccountError("INVALID_OOB_CODE")
      }
      try bench.save(record, from: before)
      return (before, record)
    }
    sentCodes.remove(code: text)
    return Self.updated(record, newEmail: record.email == before.email ? nil : record.email, tokens: [])
  }
}

extension AccountTransaction {
  /// Uses up a code.
  ///
  /// - Returns: the account that it acts on, and what it said.
  func redeem(_ hash: [UInt8]) throws(AccountError) -> (AccountRecord, AccountCodeRecord) {
    let code = try code(hash)
    guard let uid = code.uid, let record = try account(uid) else { throw AccountError("INVALID_OOB_CODE") }
    guard !record.isDisabled else { throw AccountError("USER_DISABLED") }
    remove(.code(hash: hash))
    return (record, code)
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

/// A letter with a code, to be rendered by whoever knows the words.
package struct CodeMail: Sendable, Hashable {
  /// The project's name.
  package let project: String
  /// What the code does.
  package let kind: AccountCodeRecord.Kind
  /// To whom it goes.
  package let to: String
  /// The address that takes the place of the account's.
  package let newEmail: String?
  /// How the player is called; nil if that is not known.
  package let displayName: String?
  /// The languages of the person who asked for it, the best first.
  package let locales: [String]
  /// What to click on; it holds the code. A secret.
  package let link: String
}

/// Turns letters into messages for the outbox.
package protocol CodeMailing: Sendable {
  /// The outlet's name and what it is given, as JSON; nil if no mail is sent here.
  func message(for letter: CodeMail) -> (outlet: String, payload: String)?
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
