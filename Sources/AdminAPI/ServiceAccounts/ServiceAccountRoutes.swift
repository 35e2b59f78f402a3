import APISupport
import Credentials
import HTTPServer
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import StorageCore
import TreeModel

/// Service accounts: who may administer, and as what.
enum ServiceAccountRoutes {
  static let routes: [Route] = [
    Route.list("/admin/v1/service-accounts", "The service accounts, revoked ones too, oldest first.", list).described(
      RouteDescription(answer: .object([.always("serviceAccounts", .list(account))]))),
    Route.mutate(
      .POST, "/admin/v1/service-accounts", audit: "service-accounts.create",
      "Makes a service account; the answer holds its key file, which nobody can ask for again.", create
    ).described(
      RouteDescription(
        body: [
          .always("name", .form("^[a-z][a-z0-9-]{0,62}$"), "a small letter, then small letters, digits and hyphens"),
          .always("role", .choice(AdminRole.allCases.map(\.rawValue))),
          .maybe("project", .form("^[A-Za-z0-9-]{1,48}$"), "part of the account's address; the server's project without it"),
          .always("server", .form("^https?://[^/?#]+.*$"), "this server's address as the account will reach it"),
        ],
        answer: .object([
          .always("account", account), .always("key", .object([.always("token_uri", .text)]), "the key file's content"),
        ]))),
    Route.mutate(
      .DELETE, "/admin/v1/service-accounts/{name}", audit: "service-accounts.revoke",
      "Revokes a service account: its tokens are void from now on.", revoke
    ).described(
      RouteDescription(captures: [.init("name", .filled, required: true, "The account's name.")], answer: .named("Done"))),
  ]

  private static let account = JSONSchema.object([
    .always("name", .text), .always("role", .text), .always("email", .text), .always("keyId", .text),
    .always("tokenUri", .text), .always("createdAt", .time), .always("createdBy", .text), .maybe("revokedAt", .time),
  ])

  private static func list(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let records = try call.read { (snapshot) throws(StorageError) in try snapshot.serviceAccounts() }
    return .json(["serviceAccounts": .array(records.map(json))])
  }

  private static func create(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let desk = try desk(call)
    let body = try call.body()
    let name = try body.required("name")
    guard ServiceAccountKey.isLegal(name: name) else {
      throw .badRequest("\"name\" must be 1 to 63 small letters, digits and hyphens, a letter first.")
    }
    guard let role = AdminRole(rawValue: try body.required("role")) else {
      throw .badRequest("\"role\" must be viewer, support or admin.")
    }
    let project = try body.optional("project") ?? desk.projectName
    guard (1...48).contains(project.utf8.count), NamespaceName.isLegal(project) else {
      throw .badRequest("\"project\" must be 1 to 48 letters, digits and hyphens.")
    }
    let server = try server(try body.required("server"))
    let made = try? await call.services.adminPool.runIfActive { try SigningKey.generate() }
    guard let made else { throw APIError(.serviceUnavailable, "unavailable", "No key could be made; try again.") }
    let key = ServiceAccountKey(name: name, project: project, server: server, key: made)
    let record = try await desk.create(key, role: role, by: call.caller.actor)
    return HTTPResponse.json(["account": json(record), "key": key.file]).adding("Cache-Control", "no-store")
  }

  private static func revoke(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    try await desk(call).revoke(call.captures["name"] ?? "", by: call.caller.actor)
    return .json(["status": "ok"])
  }

  private static func desk(_ call: RouteCall) throws(APIError) -> ServiceAccountStore {
    guard let desk = call.services.serviceAccounts else {
      throw APIError(.notImplemented, "not_available", "This server has no service accounts.")
    }
    return desk
  }

  /// The address that key files name, without a slash at its end.
  private static func server(_ text: String) throws(APIError) -> String {
    let isAddress = text.utf8.allSatisfy { (0x21..<0x7F).contains($0) && !"?#@\"<>\\".utf8.contains($0) }
    var address = text[...]
    while address.last == "/" { address.removeLast() }
    let host = address.hasPrefix("https://") ? address.dropFirst(8) : address.hasPrefix("http://") ? address.dropFirst(7) : ""
    guard isAddress, text.utf8.count <= 200, let first = host.first, first != "/", first != ":" else {
      throw .badRequest("\"server\" must be this server's address, such as https://rewards.example.com.")
    }
    return String(address)
  }

  private static func json(_ record: ServiceAccountRecord) -> JSON {
    .record([
      ("name", .string(record.name)), ("role", .string(record.role)), ("email", .string(record.email)),
      ("keyId", .string(record.keyID)), ("tokenUri", .string(record.tokenURI)), ("createdAt", .int(record.createdAt)),
      ("createdBy", .string(record.createdBy.description)), ("revokedAt", record.revokedAt.map(JSON.int)),
    ])
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
      .POST, RouteTemplate(stringLiteral: path), audit: nil, "An access token for a service account's signed assertion.",
      access: .open
    ) { (call) throws(APIError) in
      exchange(call)
    }
  }

  private static func exchange(_ call: RouteCall) -> HTTPResponse {
    guard let desk = call.services.serviceAccounts else {
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
    do throws(TokenError) {
      let granted = try desk.exchange(assertion)
      return unstored(
        .json(["access_token": .string(granted.token), "expires_in": .int(granted.seconds), "token_type": "Bearer"]))
    } catch {
      call.services.logger.warning("an access token was refused", metadata: ["reason": "\(error)"])
      return refusal("invalid_grant", words(for: error))
    }
  }

  /// What Google says where it says something of its own; its libraries' users know these sentences.
  private static func words(for fault: TokenError) -> String {
    switch fault {
    case .badSignature: "Invalid JWT Signature."
    case .unknownKey: "Invalid grant: account not found. It may have been revoked."
    case .expired, .notYetValid:
      "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check the clock. \(fault)"
    default: "Invalid JWT: \(fault)"
    }
  }

  private static func refusal(_ code: String, _ text: String, _ status: HTTPResponseStatus = .badRequest) -> HTTPResponse {
    unstored(.json(["error": .string(code), "error_description": .string(text)], status: status))
  }

  private static func unstored(_ response: HTTPResponse) -> HTTPResponse {
    response.adding("Cache-Control", "no-store").adding("Pragma", "no-cache")
  }
}
