import APISupport
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
  private static let uid = RouteDescription.Parameter(
    "uid", .filled, required: true, "The account: its uid, or its e-mail address.")
  private static let account: JSONSchema = .object([
    .always("localId", .text), .always("createdAt", .text), .always("disabled", .boolean), .maybe("email", .text),
    .maybe("providerUserInfo", .list(.any)),
  ])

  static let routes: [Route] = [
    Route.list("/admin/v1/accounts", "The accounts, by uid.", list).described(
      RouteDescription(
        query: [
          .limit(50), .init("email", .filled, "Only the account with this e-mail address."),
          .init("cursor", .filled, "The \"next\" of an earlier page, to go on behind it."),
        ],
        answer: .object([
          .always("accounts", .list(account)), .always("count", .count, "how many there are in all"),
          .maybe("next", .text, "the next page's cursor"),
        ]))),
    Route.list("/admin/v1/accounts/{uid}", "One account.", show).described(
      RouteDescription(captures: [uid], answer: account)),
    Route.mutate(
      .POST, "/admin/v1/accounts/{uid}/disable", audit: "accounts.disable",
      "Lets nobody sign in to an account; what was issued is void at once.", access: .support
    ) { (call) throws(APIError) in try await disable(call, true) }.described(
      RouteDescription(captures: [uid], body: [], answer: account)),
    Route.mutate(
      .POST, "/admin/v1/accounts/{uid}/enable", audit: "accounts.enable", "Lets the player sign in again.",
      access: .support
    ) { (call) throws(APIError) in try await disable(call, false) }.described(
      RouteDescription(captures: [uid], body: [], answer: account)),
    Route.mutate(
      .DELETE, "/admin/v1/accounts/{uid}/second-factors", audit: "accounts.removeSecondFactors",
      "Takes every second factor from an account: the player lost the telephone. Its sessions end.", removeSecondFactors
    ).described(RouteDescription(captures: [uid], answer: account)),
    Route.mutate(
      .DELETE, "/admin/v1/accounts/{uid}", audit: "accounts.delete",
      "Removes an account; the player's record and ledger stay.", delete
    ).described(
      RouteDescription(
        captures: [uid], answer: .object([.always("status", .choice(["ok"]))]))),
  ]

  private static func book(_ call: RouteCall) throws(APIError) -> AccountService {
    guard let book = call.services.accounts else {
      throw APIError(.notImplemented, "not_available", "This server keeps no accounts.")
    }
    return book
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
    guard text.utf8.contains(UInt8(ascii: "@")), let book = call.services.accounts else { return nil }
    let project = try project(call)
    return try answering { () throws(AccountError) in try book.uid(ofEmail: text, of: project) }
  }

  private static func uid(_ call: RouteCall) throws(APIError) -> String {
    let text = call.captures["uid"] ?? ""
    return try owner(ofEmail: text, call) ?? text
  }

  private static func list(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (book, project, limit) = (try book(call), try project(call), try call.limit())
    if let email = call.query["email"] {
      let found = try answering { () throws(AccountError) -> JSON in
        let uid = try book.uid(ofEmail: email, of: project)
        return .array(try uid.map { (uid) throws(AccountError) in [try book.described(uid, of: project)] } ?? [])
      }
      return .json(["accounts": found, "count": .int(Int64(found.array?.count ?? 0))])
    }
    return .json(
      try answering { () throws(AccountError) in try book.page(of: project, after: call.query["cursor"], limit: limit) })
  }

  private static func show(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (book, project) = (try book(call), try project(call))
    let uid = try uid(call)
    return .json(try answering { () throws(AccountError) in try book.described(uid, of: project) })
  }

  private static func disable(_ call: RouteCall, _ isDisabled: Bool) async throws(APIError) -> HTTPResponse {
    let (book, project, uid) = (try book(call), try project(call), try uid(call))
    do throws(AccountError) {
      return .json(try await book.setDisabled(isDisabled, uid, of: project, by: call.caller.actor))
    } catch {
      throw APIError(error)
    }
  }

  private static func removeSecondFactors(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let (book, project, uid) = (try book(call), try project(call), try uid(call))
    do throws(AccountError) {
      return .json(
        try await book.removeSecondFactors(of: uid, of: project, by: call.caller.actor))
    } catch {
      throw APIError(error)
    }
  }

  private static func delete(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let (book, project, uid) = (try book(call), try project(call), try uid(call))
    do throws(AccountError) {
      try await book.remove(uid, of: project, by: call.caller.actor)
    } catch {
      throw APIError(error)
    }
    return .json(["status": "ok"])
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
