import APISupport
import AdminModel
import Credentials
import HTTPServer
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import StorageCore
import TextFormats
import TreeModel

/// Service accounts: who may administer, and as what.
enum ServiceAccountRoutes {
  static let routes: [Route] = [
    .reading(AdminAccess.serviceAccounts, by: list),
    .responding(to: AdminAccess.createServiceAccount, audit: "service-accounts.create", response: create),
    .changing(AdminAccess.revokeServiceAccount, audit: "service-accounts.revoke", answer: revoke),
  ]

  private static func list(_ call: RouteCall, query _: NoQuery) throws -> AdminAccess.ServiceAccountList {
    let records = try call.read { snapshot in try snapshot.serviceAccounts() }
    return AdminAccess.ServiceAccountList(serviceAccounts: records.map { AdminAccess.ServiceAccount($0) })
  }

  private static func create(_ call: RouteCall, order: AdminAccess.ServiceAccountOrder) async throws -> HTTPResponse {
    let accounts = try accounts(call)
    let name = order.name
    guard ServiceAccountKey.isLegal(name: name) else {
      throw APIError.badRequest("\"name\" must be 1 to 63 small letters, digits and hyphens, a letter first.")
    }
    guard let role = AdminRole(rawValue: order.role) else {
      throw APIError.badRequest("\"role\" must be viewer, support or admin.")
    }
    let project = order.project ?? accounts.projectName
    guard (1...48).contains(project.utf8.count), NamespaceName.isLegal(project) else {
      throw APIError.badRequest("\"project\" must be 1 to 48 letters, digits and hyphens.")
    }
    let server = try server(order.server)
    let made = try? await call.services.adminPool.runIfActive { try SigningKey.generate() }
    guard let made else { throw APIError(.serviceUnavailable, "unavailable", "No key could be made; try again.") }
    let key = ServiceAccountKey(name: name, project: project, server: server, key: made)
    let record = try await accounts.create(key, role: role, by: call.caller.actor)
    return HTTPResponse.json(
      JSON(encoding: AdminAccess.CreatedServiceAccount(account: AdminAccess.ServiceAccount(record), key: key.file))
    ).adding("Cache-Control", value: "no-store")
  }

  private static func revoke(_ call: RouteCall, body _: NoBody) async throws -> Done {
    try await accounts(call).revoke(call.captures["name"] ?? "", by: call.caller.actor)
    return Done()
  }

  private static func accounts(_ call: RouteCall) throws -> ServiceAccountStore {
    guard let accounts = call.services.serviceAccounts else {
      throw APIError(.notImplemented, "not_available", "This server has no service accounts.")
    }
    return accounts
  }

  /// The address that key files name, without a slash at its end.
  private static func server(_ text: String) throws -> String {
    var address = text[...]
    while address.last == "/" { address.removeLast() }
    let url = URLParts(address)
    guard text.utf8.count <= 200, PercentEncoding.encodeIllegal(address) == address,
      url.scheme == "https" || url.scheme == "http",
      url.query == nil, url.fragment == nil, let authority = url.authority.flatMap({ URLAuthority($0) }),
      authority.userInfo == nil, !authority.host.isEmpty, authority.port == nil || authority.portNumber != nil
    else {
      throw APIError.badRequest("\"server\" must be this server's address, such as https://rewards.example.com.")
    }
    return String(address)
  }
}

extension AdminAccess.ServiceAccount {
  fileprivate init(_ record: ServiceAccountRecord) {
    self.init(
      name: record.name, role: record.role, email: record.email, keyID: record.keyID, tokenURI: record.tokenURI,
      createdAt: Timestamp(record.createdAt), createdBy: record.createdBy.description,
      revokedAt: record.revokedAt.map { Timestamp($0) })
  }
}

/// Access tokens for what a service account has signed (RFC 7523 §2.1; RFC 6749 §5).
///
/// Errors have the shape and the words that Google's libraries know: `{"error": "invalid_grant", "error_description": …}`.
package enum TokenRoutes {
  /// The longest request, in bytes: an assertion and its frame.
  private static let bodyBytesMax = 32_768

  package static let routes: [Route] = ["/token", "/oauth2/v4/token", "/oauth2.googleapis.com/token"].map { path in
    Route.mutate(
      .POST, template: RouteTemplate(stringLiteral: path), audit: nil,
      summary: "An access token for a service account's signed assertion.",
      access: .open
    ) { call in
      exchange(call)
    }
  }

  private static func exchange(_ call: RouteCall) -> HTTPResponse {
    guard let accounts = call.services.serviceAccounts else {
      return refusal("invalid_client", "This server has no service accounts.", .unauthorized)
    }
    guard let body = call.request.body, body.readableBytes <= bodyBytesMax,
      let form = QueryString(parsing: body.readableBytesView)
    else { return refusal("invalid_request", "The body must be a form (application/x-www-form-urlencoded).") }
    guard form["grant_type"] == ServiceAccountAssertion.grantType else {
      return refusal("unsupported_grant_type", "grant_type must be \(ServiceAccountAssertion.grantType).")
    }
    guard let assertion = form["assertion"], !assertion.isEmpty else {
      return refusal("invalid_request", "The parameter assertion is missing.")
    }
    do {
      let granted = try accounts.exchange(assertion)
      return unstored(
        .json(["access_token": .string(granted.token), "expires_in": .int(granted.seconds), "token_type": "Bearer"]))
    } catch {
      call.services.logger.warning("an access token was refused", metadata: ["reason": "\(error)"])
      return refusal("invalid_grant", words(for: error))
    }
  }

  /// What Google says where it says something of its own; its libraries' users know these sentences.
  private static func words(for error: TokenError) -> String {
    switch error {
    case .badSignature: "Invalid JWT Signature."
    case .unknownKey: "Invalid grant: account not found. It may have been revoked."
    case .expired, .notYetValid:
      "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check the clock. \(error)"
    default: "Invalid JWT: \(error)"
    }
  }

  private static func refusal(_ code: String, _ text: String, _ status: HTTPResponseStatus = .badRequest) -> HTTPResponse {
    unstored(.json(["error": .string(code), "error_description": .string(text)], status: status))
  }

  private static func unstored(_ response: HTTPResponse) -> HTTPResponse {
    response.adding("Cache-Control", value: "no-store").adding("Pragma", value: "no-cache")
  }
}
