import APISupport
import AdminModel
package import Accounts
package import HTTPServer
import NIOHTTP1
import StorageCore
import TreeDatabase
import TreeModel

/// Players' accounts, for administrators: who there is, and what is done about them.
///
/// Imports, with the hashes of passwords, go through the Identity Toolkit's own methods.
enum AccountRoutes {
  static let routes: [Route] =
    editing + [
      .reading(AdminAccounts.list, by: list), .reading(AdminAccounts.show, by: show),
      .changing(AdminAccounts.export, audit: "accounts.export") { call, query in try list(call, query: query) },
      .changing(AdminAccounts.disable, audit: "accounts.disable") { call, _ in
        try await setDisabled(true, call: call)
      },
      .changing(AdminAccounts.enable, audit: "accounts.enable") { call, _ in
        try await setDisabled(false, call: call)
      },
      .changing(AdminAccounts.removeSecondFactors, audit: "accounts.removeSecondFactors", answer: removeSecondFactors),
      .changing(AdminAccounts.delete, audit: "accounts.delete", answer: delete),
    ]

  static func accounts(_ call: RouteCall) throws -> AccountService {
    guard let accounts = call.services.accounts else {
      throw APIError(.notImplemented, "not_available", "This server keeps no accounts.")
    }
    return accounts
  }

  /// The project whose namespace is meant.
  static func project(_ call: RouteCall) throws -> AccountProject {
    let suffix = "-default-rtdb"
    let name = call.namespaceName
    return AccountProject(
      name: name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name, namespace: try call.namespace())
  }

  /// The same for the accounts of one tenant.
  static func project(_ call: RouteCall, tenant: String) throws -> AccountProject {
    let project = try project(call)
    guard let id = TenantID(tenant) else { throw AccountError.unknownTenant }
    _ = try accounts(call).tenants.tenant(id, of: project)
    return project.within(.tenant(id))
  }

  /// The project, as an account's own settings hold: of a tenant's player those of the tenant.
  static func project(_ call: RouteCall, of uid: String) throws -> AccountProject {
    let project = try project(call)
    let tenant = try accounts(call).account(uid, of: project)?.tenant.flatMap(TenantID.init)
    return tenant.map { project.within(.tenant($0)) } ?? project
  }

  /// The player whom an administrator names: by the uid, or by the account's e-mail address.
  ///
  /// - Throws: `not_found` for an address that no account has, unless it may be the key of a player without one.
  static func player(_ text: String, _ call: RouteCall) throws -> String {
    if let uid = try owner(ofEmail: text, call: call) { return uid }
    guard text.utf8.contains(UInt8(ascii: "@")), (try? Key(text)) == nil else { return text }
    throw APIError(
      .notFound, "not_found", "No account has the e-mail address \(text.prefix(254)); \"doubloon accounts list\" shows all.")
  }

  /// Whose address it is; nil if it is none, or nobody's.
  private static func owner(ofEmail text: String, call: RouteCall) throws -> String? {
    guard text.utf8.contains(UInt8(ascii: "@")), let accounts = call.services.accounts else { return nil }
    let project = try project(call)
    return try accounts.uid(ofEmail: text, of: project)
  }

  /// What rules see as `auth` of an account, by its uid or e-mail address, once it signed in.
  static func auth(of text: String, _ call: RouteCall) throws -> AuthVariable {
    guard call.services.database.namespace(named: call.namespaceName) != nil,
      let auth = try accounts(call).auth(of: owner(ofEmail: text, call: call) ?? text, in: project(call))
    else {
      throw APIError(
        .notFound, "not_found",
        "No account has the uid or e-mail address \(text.prefix(254)); \"doubloon accounts list\" shows all.")
    }
    return auth
  }

  static func uid(_ call: RouteCall) throws -> String {
    let text = call.captures["uid"] ?? ""
    return try owner(ofEmail: text, call: call) ?? text
  }

  private static func list(_ call: RouteCall, query: AdminAccounts.Query) throws -> AdminAccounts.List {
    let (accounts, limit) = (try accounts(call), Int(query.limit ?? 50))
    let project = if let tenant = query.tenant { try Self.project(call, tenant: tenant) } else { try Self.project(call) }
    if query.q != nil || query.provider != nil || query.state != nil || query.sort == .email {
      guard query.email == nil, query.phone == nil else {
        throw APIError.badRequest("email and phone name one account: leave q, provider, state and sort out, or use q alone.")
      }
      let search = AccountSearch(
        text: query.q, provider: query.provider, state: query.state.flatMap { AccountSearch.State(rawValue: $0.rawValue) },
        isByEmail: query.sort == .email)
      let start = try query.cursor.map(position)
      if search.isByEmail, case .afterUID? = start { throw foreignCursor }
      let page = try accounts.search(search, of: project, from: start, limit: limit)
      return AdminAccounts.List(
        accounts: page.accounts.map { AdminAccounts.Account($0) }, count: Int64(page.accounts.count),
        next: page.next.map(cursor), scanned: Int64(page.scanned))
    }
    if let named: AccountIdentifier = query.email.map({ .email($0.lowercased()) }) ?? query.phone.map({ .phone($0) }) {
      let found = try accounts.account(named, of: project).map { [AdminAccounts.Account($0)] } ?? []
      return AdminAccounts.List(accounts: found, count: Int64(found.count))
    }
    let page = try accounts.page(of: project, after: query.cursor, limit: limit)
    return AdminAccounts.List(
      accounts: page.accounts.map { AdminAccounts.Account($0) },
      count: query.count == false ? nil : try accounts.count(of: project), next: page.next)
  }

  /// `uid:bob`, `email:bob@acme.test`: where a search goes on.
  private static func cursor(_ position: AccountSearch.Position) -> String {
    switch position {
    case .afterUID(let uid): "uid:\(uid)"
    case .afterEmail(let address): "email:\(address)"
    }
  }

  private static func position(_ cursor: String) throws -> AccountSearch.Position {
    let parts = cursor.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    switch (parts[0], parts.count) {
    case ("uid", 2): return .afterUID(String(parts[1]))
    case ("email", 2): return .afterEmail(String(parts[1]))
    default: throw foreignCursor
    }
  }

  private static let foreignCursor = APIError.badRequest("cursor must be the \"next\" of an earlier page of the same list.")

  private static func show(_ call: RouteCall, query _: NoQuery) throws -> AdminAccounts.Account {
    let (accounts, project) = (try accounts(call), try project(call))
    let uid = try uid(call)
    guard let account = try accounts.account(uid, of: project) else {
      throw AccountError.unknownAccount
    }
    return AdminAccounts.Account(account)
  }

  private static func setDisabled(_ isDisabled: Bool, call: RouteCall) async throws -> AdminAccounts.Account {
    let (accounts, project, uid) = (try accounts(call), try project(call), try uid(call))
    let account = try await accounts.setDisabled(isDisabled, uid: uid, of: project, by: call.caller.actor)
    return AdminAccounts.Account(account)
  }

  private static func removeSecondFactors(_ call: RouteCall, body _: NoBody) async throws -> AdminAccounts.Account {
    let (accounts, project, uid) = (try accounts(call), try project(call), try uid(call))
    let account = try await accounts.removeSecondFactors(of: uid, of: project, by: call.caller.actor)
    return AdminAccounts.Account(account)
  }

  private static func delete(_ call: RouteCall, body _: NoBody) async throws -> Done {
    let (accounts, project, uid) = (try accounts(call), try project(call), try uid(call))
    try await accounts.remove(uid, of: project, by: call.caller.actor)
    return Done()
  }
}

extension AdminAccounts.Account {
  /// As it is shown to its own player: whether there is a password, not what became of it.
  init(_ record: AccountRecord) { self.init(userInfo: AccountJSON.own(record)) }
}

/// What the accounts refused, in the administrators' shape; players get the Identity Toolkit's.
extension AccountError: APIErrorConvertible {
  package var apiError: APIError {
    switch self {
    case .unknownAccount:
      APIError(.notFound, "not_found", "There is no such account; \"doubloon accounts list\" shows all there are.")
    case .unavailable(let text): APIError(.serviceUnavailable, "unavailable", text)
    case .rejected(let text): APIError(.badRequest, "rejected", text)
    case .emailTaken: APIError(.conflict, "email_taken", "Another account has this e-mail address.")
    case .phoneNumberTaken: APIError(.conflict, "phone_taken", "Another account has this telephone number.")
    case .unknownTenant:
      APIError.badRequest("There is no such tenant; \"doubloon accounts tenants list\" shows all there are.")
    case .uidTaken: APIError(.conflict, "uid_taken", "There is an account with this uid already.")
    case .passwordTooShort, .passwordTooLong, .unmetPasswordRequirements:
      APIError(.badRequest, "password", "The password is too short or too long, or has not what the password policy asks for.")
    default: APIError(.badRequest, "account", "\(self)")
    }
  }
}
