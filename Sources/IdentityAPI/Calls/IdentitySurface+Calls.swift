import APISupport
import Accounts
import HTTPServer
import NIOCore
import NIOHTTP1
import StorageCore
import TreeDatabase
import TreeModel

extension IdentitySurface {
  /// Understands a request: by whose right, for which project and tenant, with what fields.
  ///
  /// - `tenant`: the tenant in the path.
  func call(_ request: HTTPRequest, query: QueryString, project named: String?, tenant: String? = nil) async throws
    -> IdentityCall
  {
    let call = try await projectCall(request, query: query, project: named)
    let scope = try await scope(of: call, tenant: tenant)
    return call.within(scope)
  }

  /// The same for what is the project's own whatever it says of tenants.
  func projectCall(_ request: HTTPRequest, query: QueryString, project named: String?) async throws -> IdentityCall {
    let headers = request.headers
    let actor = try administrator(headers)
    let apiKey = query["key"] ?? headers.first(name: "x-goog-api-key") ?? ""
    guard actor != nil || !apiKey.isEmpty else {
      throw IdentityError.permissionDenied("The request is missing a valid API key.")
    }
    let fields = IdentityFields(try Self.fields(request, query: query))
    var name = named ?? defaultProject
    if let target = IdentityCall.targetProject(of: fields) {
      guard actor != nil else {
        throw IdentityError(
          "INSUFFICIENT_PERMISSION", "Only authenticated requests can specify target_project_id.")
      }
      name = named ?? target
    }
    let project = try await project(name).within(.project)
    let context = AccountContext(
      project: project, administrator: actor, network: "\(request.client.clientNetwork)", serverURL: serverURL(headers),
      apiKey: apiKey.isEmpty ? "fake-api-key" : apiKey, locales: AcceptLanguage.locales(headers))
    return IdentityCall(context: context, fields: fields)
  }

  /// Whose accounts a call is about: the tenant's that its path names, its body, or else the token that it brings.
  private func scope(of call: IdentityCall, tenant named: String?) async throws -> AccountScope {
    let said = try call.fields.text("tenantId").flatMap { $0.isEmpty ? nil : $0 }
    if let named, let said, named != said { throw AccountError.tenantMismatch }
    var name = named ?? said
    // What a token claims only says where to look; the look finds out whether it is true.
    if let claimed = try call.fields.text("idToken").flatMap(accounts.tenant(claimedBy:)) {
      guard name == nil || name == claimed else { throw AccountError.tenantMismatch }
      name = claimed
    } else if name == nil, let token = try call.fields.text("refreshToken") {
      name = try accounts.tenant(ofRefreshToken: token, of: call.project)
    }
    guard let name else { return .project }
    return try await accounts.tenants.scope(of: name, in: call.project)
  }

  /// The project of requests that name none: the one of the default namespace.
  var defaultProject: String {
    let suffix = "-default-rtdb"
    let name = services.defaultNamespace
    return name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
  }

  /// A project with its namespace; in development it comes into being when it is named.
  func project(_ name: String) async throws -> AccountProject {
    let namespaceName = name == defaultProject ? services.defaultNamespace : AccountProject.namespaceName(of: name)
    if let known = services.database.namespace(named: namespaceName) { return AccountProject(name: name, namespace: known) }
    guard services.createsNamespaces || name == defaultProject else {
      throw IdentityError.notFound("PROJECT_NOT_FOUND : This server has no project \(name.prefix(80)).")
    }
    do {
      return AccountProject(name: name, namespace: try await services.database.openNamespace(named: namespaceName))
    } catch {
      throw IdentityError.invalidArgument(error.message)
    }
  }

  /// The administrator whom the `Authorization` header names; nil if it names nobody.
  ///
  /// - Throws: 401 for a bearer that is no administrator's, an ID token too.
  func administrator(_ headers: HTTPHeaders) throws -> StorageCore.Actor? {
    guard let bearer = headers.bearer else { return nil }
    let isForeign = services.isForeign(headers)
    if let actor = administrator(named: bearer, isForeign: isForeign) { return actor }
    // Emulators take the word in any case, and every access token of Google's.
    if isDevelopment, bearer.lowercased() == "owner" || bearer.hasPrefix("ya29."),
      let actor = administrator(named: "owner", isForeign: isForeign)
    {
      return actor
    }
    throw IdentityError.unauthenticated(
      "Request had invalid authentication credentials. Expected an administrator's token behind Bearer.")
  }

  private func administrator(named token: String, isForeign: Bool) -> StorageCore.Actor? {
    let credentials = RequestCredentials(accessToken: token, isForeign: isForeign)
    guard let caller = try? services.authenticator.caller(credentials), caller.isAdmin else { return nil }
    return caller.actor
  }

  /// Where this server is: as it is configured or, in development, as the client sees it. A client that names the host is
  /// never believed in production: the link of somebody else's mail would lead to it.
  private func serverURL(_ headers: HTTPHeaders) -> String {
    if let publicURL = accounts.options.publicURL { return publicURL }
    let scheme = headers.first(name: "x-forwarded-proto") == "https" ? "https" : "http"
    return "\(scheme)://\(headers.first(name: "host") ?? "127.0.0.1")"
  }

  private static func fields(_ request: HTTPRequest, query: QueryString) throws -> JSON {
    guard let body = request.body, body.readableBytes > 0 else {
      // A GET says in its query what a POST says in its body.
      return .object(query.parameters.map { JSON.Member(key: $0.name, value: .string($0.value)) })
    }
    let type = request.headers.first(name: "content-type") ?? ""
    // curl calls every body a form; one that begins with a brace is none.
    let isJSON = body.readableBytesView.first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 } == UInt8(ascii: "{")
    if !isJSON, type.lowercased().hasPrefix("application/x-www-form-urlencoded") {
      guard let form = QueryString(parsing: body.readableBytesView) else {
        throw IdentityError.invalidArgument("Invalid form: it must be UTF-8, percent-encoded.")
      }
      return .object(form.parameters.map { JSON.Member(key: $0.name, value: .string($0.value)) })
    }
    let json = body.withUnsafeReadableBytes { try? JSONParser.parse($0) }
    guard let json, json.object != nil else {
      throw IdentityError.invalidArgument("Invalid JSON payload received. The body must be a JSON object.")
    }
    return json
  }
}
