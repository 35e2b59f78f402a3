import APISupport
import AdminModel
import Accounts
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeModel

/// Players' accounts, for administrators: who there is, and what is done about them.
///
/// What has to do with passwords (making accounts, imports) goes through the Identity Toolkit's own methods, whose bodies no
/// log keeps.
enum AccountRoutes {
  static let routes: [Route] = [
    .responding(AdminAccounts.list, by: list), .responding(AdminAccounts.show, by: show),
    .responding(to: AdminAccounts.disable, audit: "accounts.disable") { (call, _) throws(APIError) in
      try await setDisabled(true, call)
    },
    .responding(to: AdminAccounts.enable, audit: "accounts.enable") { (call, _) throws(APIError) in
      try await setDisabled(false, call)
    },
    .responding(to: AdminAccounts.removeSecondFactors, audit: "accounts.removeSecondFactors", removeSecondFactors),
    .changing(AdminAccounts.delete, audit: "accounts.delete", delete),
  ]

  private static func service(_ call: RouteCall) throws(APIError) -> AccountService {
    guard let service = call.services.accounts else {
      throw APIError(.notImplemented, "not_available", "This server keeps no accounts.")
    }
    return service
  }

  private static func project(_ call: RouteCall) throws(APIError) -> AccountProject {
    let suffix = "-default-rtdb"
    let name = call.namespaceName
    return AccountProject(
      name: name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name, namespace: try call.namespace())
  }

  /// The player whom an administrator names: by the uid, or by the account's e-mail address.
  ///
  /// - Throws: `not_found` for an address that no account has, unless it may be the key of a player without one.
  static func player(_ text: String, _ call: RouteCall) throws(APIError) -> String {
    if let uid = try owner(ofEmail: text, call) { return uid }
    guard text.utf8.contains(UInt8(ascii: "@")), (try? Key(text)) == nil else { return text }
    throw APIError(
      .notFound, "not_found", "No account has the e-mail address \(text.prefix(254)); \"doubloon accounts list\" shows all.")
  }

  /// Whose address it is; nil if it is none, or nobody's.
  private static func owner(ofEmail text: String, _ call: RouteCall) throws(APIError) -> String? {
    guard text.utf8.contains(UInt8(ascii: "@")), let service = call.services.accounts else { return nil }
    let project = try project(call)
    return try answering { () throws(AccountError) in try service.uid(ofEmail: text, of: project) }
  }

  private static func uid(_ call: RouteCall) throws(APIError) -> String {
    let text = call.captures["uid"] ?? ""
    return try owner(ofEmail: text, call) ?? text
  }

  private static func list(_ call: RouteCall, query: AdminAccounts.Query) throws(APIError) -> HTTPResponse {
    let (service, project, limit) = (try service(call), try project(call), Int(query.limit ?? 50))
    if let email = query.email {
      let found = try answering { () throws(AccountError) -> JSON in
        let uid = try service.uid(ofEmail: email, of: project)
        return .array(try uid.map { (uid) throws(AccountError) in [try service.described(uid, of: project)] } ?? [])
      }
      return .json(["accounts": found, "count": .int(Int64(found.array?.count ?? 0))])
    }
    return .json(
      try answering { () throws(AccountError) in try service.page(of: project, after: query.cursor, limit: limit) })
  }

  private static func show(_ call: RouteCall, query _: NoQuery) throws(APIError) -> HTTPResponse {
    let (service, project) = (try service(call), try project(call))
    let uid = try uid(call)
    return .json(try answering { () throws(AccountError) in try service.described(uid, of: project) })
  }

  private static func setDisabled(_ isDisabled: Bool, _ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let (service, project, uid) = (try service(call), try project(call), try uid(call))
    do throws(AccountError) {
      return .json(try await service.setDisabled(isDisabled, uid, of: project, by: call.caller.actor))
    } catch {
      throw APIError(error)
    }
  }

  private static func removeSecondFactors(_ call: RouteCall, body _: NoBody) async throws(APIError) -> HTTPResponse {
    let (service, project, uid) = (try service(call), try project(call), try uid(call))
    do throws(AccountError) {
      return .json(
        try await service.removeSecondFactors(of: uid, of: project, by: call.caller.actor))
    } catch {
      throw APIError(error)
    }
  }

  private static func delete(_ call: RouteCall, body _: NoBody) async throws(APIError) -> Done {
    let (service, project, uid) = (try service(call), try project(call), try uid(call))
    do throws(AccountError) {
      try await service.remove(uid, of: project, by: call.caller.actor)
    } catch {
      throw APIError(error)
    }
    return Done()
  }

  private static func answering<Value>(_ body: () throws(AccountError) -> Value) throws(APIError) -> Value {
    do throws(AccountError) {
      return try body()
    } catch {
      throw APIError(error)
    }
  }
}

extension APIError {
  /// What the accounts refused, in the administrators' shape.
  fileprivate init(_ error: AccountError) {
    if error.code == "USER_NOT_FOUND" {
      self.init(.notFound, "not_found", "There is no such account; \"doubloon accounts list\" shows all there are.")
    } else {
      self.init(HTTPResponseStatus(statusCode: error.status), error.code.lowercased(), error.message)
    }
  }
}
