import APISupport
import Accounts
import AdminModel
import Credentials
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeModel

/// Accounts that administrators make and change; the sessions of their players, and in development their codes.
extension AccountRoutes {
  /// Sessions that one answer shows.
  private static let sessionsMax = 100

  static let editing: [Route] = [
    .changing(AdminAccounts.create, audit: "accounts.create", answer: create),
    .changing(AdminAccounts.update, audit: "accounts.update", answer: update),
    .reading(AdminAccounts.sessions, by: sessions),
    .changing(AdminAccounts.endSessions, audit: "accounts.endSessions") { call, _ in
      let (accounts, project, uid) = (try accounts(call), try project(call), try uid(call))
      return AdminAccounts.Account(try await accounts.endSessions(of: uid, in: project, by: call.caller.actor))
    },
    Route.get(
      RouteTemplate(stringLiteral: AdminAccounts.codes.template), AdminAccounts.codes.summary, access: .adminInDevelopment
    ) { .json(JSON(encoding: try codes($0))) }.described(RouteDescription(of: AdminAccounts.codes)),
  ]

  private static func create(_ call: RouteCall, draft: AdminAccounts.Draft) async throws -> AdminAccounts.Account {
    let id = try draft.uid.map { text in
      guard let id = AccountID(text) else {
        throw APIError.badRequest("\"uid\" must be 1 to 128 characters, none a control character.")
      }
      return id
    }
    let given = try draft.accountDraft()
    let project = if let tenant = draft.tenant { try Self.project(call, tenant: tenant) } else { try Self.project(call) }
    let record = try await accounts(call).create(
      given.draft, uid: id, password: draft.password, context(call, of: project))
    return AdminAccounts.Account(record)
  }

  private static func update(_ call: RouteCall, draft: AdminAccounts.Draft) async throws -> AdminAccounts.Account {
    guard draft.uid == nil else {
      throw APIError.badRequest("A uid cannot be changed: leave \"uid\" out, or make another account.")
    }
    guard draft.tenant == nil else {
      throw APIError.badRequest("An account stays in its tenant: leave \"tenant\" out, or make another account.")
    }
    let given = try draft.accountDraft()
    let uid = try uid(call)
    let changed = try await accounts(call).update(
      uid, to: given.draft, edits: given.edits, context(call, of: try project(call, of: uid)))
    return AdminAccounts.Account(changed.account)
  }

  private static func context(_ call: RouteCall, of project: AccountProject) -> AccountContext {
    AccountContext(
      project: project, administrator: call.caller.actor, network: call.request.client.clientNetwork.description)
  }

  private static func sessions(_ call: RouteCall, query _: NoQuery) throws -> AdminAccounts.SessionList {
    let all = try accounts(call).sessions(of: try uid(call), in: try project(call))
    return AdminAccounts.SessionList(
      sessions: all.prefix(sessionsMax).map { session in
        AdminAccounts.Session(
          provider: session.provider,
          signedInAt: Timestamp(session.authTime.multipliedReportingOverflow(by: 1000).partialValue),
          usedAt: Timestamp(session.issuedAt), secondFactor: session.secondFactor.flatMap { UsedFactor($0)?.kind })
      }, count: Int64(all.count))
  }

  private static func codes(_ call: RouteCall) throws -> AdminAccounts.CodeList {
    let (accounts, uid) = (try accounts(call), try uid(call))
    let project = try project(call, of: uid)
    guard let account = try accounts.account(uid, of: project) else { throw AccountError.unknownAccount }
    let mailed = accounts.emailCodes.mailed(of: project).filter { $0.email == account.email || $0.newEmail == account.email }
    let sent = accounts.phones.sent(of: project).filter { $0.phoneNumber == account.phoneNumber }
    return AdminAccounts.CodeList(
      codes: (mailed.map { AdminAccounts.Code(kind: $0.kind, to: $0.newEmail ?? $0.email, code: $0.code, link: $0.link) }
        + sent.map { AdminAccounts.Code(kind: "PHONE", to: $0.phoneNumber, code: $0.code) }).reversed())
  }
}

extension AdminAccounts.Draft {
  /// What is set, and what is taken away.
  fileprivate func accountDraft() throws -> (draft: AccountDraft, edits: AccountEdits) {
    var (draft, edits) = (AccountDraft(), AccountEdits())
    if let email, email.isEmpty {
      edits.deletedAttributes.insert(.email)
    } else if let email {
      guard let address = EmailAddress(email) else { throw APIError.badRequest("\"email\" is no plain e-mail address.") }
      draft.email = address
    }
    if let phoneNumber, phoneNumber.isEmpty {
      edits.deletedProviders.insert("phone")
    } else if let phoneNumber {
      guard let number = PhoneNumber(phoneNumber) else {
        throw APIError.badRequest("\"phoneNumber\" must be a plus and 2 to 29 digits, such as +4915112345678.")
      }
      draft.phoneNumber = number
    }
    if let claims { draft.claims = .some(try Self.text(ofClaims: claims)) }
    draft.displayName = displayName.flatMap { $0.isEmpty ? nil : $0 }
    draft.isEmailVerified = emailVerified
    draft.isDisabled = disabled
    edits.displayName = displayName
    edits.password = password
    return (draft, edits)
  }

  /// The claims as text; nil for none.
  private static func text(ofClaims claims: JSON) throws -> String? {
    guard let members = claims.object else {
      throw APIError.badRequest("\"claims\" must be a JSON object; {} takes them away.")
    }
    let text = claims.compactText
    do {
      _ = try ReservedClaims.claims(of: text)
    } catch {
      switch error {
      case .tooLarge: throw APIError.badRequest("The claims have more than \(ReservedClaims.textMax) characters as JSON.")
      case .invalid: throw APIError.badRequest("The claims are nested too deeply.")
      case .forbidden(let name):
        throw APIError.badRequest("The claim \"\(name)\" is set by the server only: choose another name.")
      }
    }
    return members.isEmpty ? nil : text
  }
}
