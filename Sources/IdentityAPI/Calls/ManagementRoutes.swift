import Accounts
import HTTPServer
import NIOHTTP1
import TreeModel

/// What administrators set up beside the project's configuration: tenants, and identity providers
/// (https://cloud.google.com/identity-platform/docs/reference/rest/v2/projects.tenants and `…oauthIdpConfigs`).
struct ManagementRoutes {
  /// How many one page of a listing shows, unless it is said.
  private static let pageSize: Int64 = 20
  private static let pageSizeMax: Int64 = 1000

  let surface: IdentitySurface

  private var accounts: AccountService { surface.accounts }

  func respond(to request: HTTPRequest, query: QueryString, at address: IdentityAddress) async throws -> HTTPResponse {
    let action = Self.action(of: address, method: request.method)
    let call: IdentityCall
    do {
      call = try await self.call(request, query: query, at: address)
    } catch {
      surface.recordRefusal(action, headers: request.headers, project: Self.project(of: address), error: error)
      throw error
    }
    guard request.method != .GET else { return .json(try await look(at: address, query: query, call: call)) }
    do {
      let answer = try await change(request.method, at: address, query: query, call: call)
      record(action, address: address, call: call, request: request, result: "ok")
      return .json(answer)
    } catch {
      record(action, address: address, call: call, request: request, result: IdentityError(error).message)
      throw error
    }
  }

  /// An administrator's call for the project, or the tenant that the path names.
  private func call(_ request: HTTPRequest, query: QueryString, at address: IdentityAddress) async throws -> IdentityCall {
    let call = try await surface.projectCall(request, query: query, project: Self.project(of: address))
    guard call.isPrivileged else {
      throw IdentityError.permissionDenied("Tenants and providers are the administrators': send Authorization: Bearer TOKEN.")
    }
    switch address {
    case .tenants, .tenant: try accounts.tenants.checkAllowed(in: call.project)
    case .providers(_, _, let tenant?, _):
      guard let id = TenantID(tenant) else { throw AccountError.unknownTenant }
      try accounts.tenants.checkAllowed(in: call.project)
      _ = try await accounts.tenants.known(id, of: call.project)
      return call.within(.tenant(id))
    default: break
    }
    return call
  }

  // MARK: Looking

  private func look(at address: IdentityAddress, query: QueryString, call: IdentityCall) async throws -> JSON {
    switch address {
    case .tenants: return try listTenants(call, query: query)
    case .tenant(let name, _):
      return TenantFields.json(try await accounts.tenants.known(try Self.tenant(name), of: call.project), of: call.project)
    case .providers(let family, _, _, nil): return try listProviders(family, query: query, call: call)
    case .providers(let family, _, _, let name?):
      guard let found = try accounts.providers.configuration(try Self.provider(name, of: family), of: call.project) else {
        throw AccountError.unknownProviderConfiguration
      }
      return ProviderFields.json(found, of: call.project)
    default: throw IdentityError.notFound("Not Found.")
    }
  }

  private func listTenants(_ call: IdentityCall, query: QueryString) throws -> JSON {
    let size = try Self.pageSize(query)
    let page = try accounts.tenants.page(of: call.project, after: query["pageToken"], limit: size)
    return JSON(fields: [
      ("tenants", .array(page.map { TenantFields.json($0, of: call.project) })),
      ("nextPageToken", page.count == size ? page.last.map { .string($0.id.text) } : nil),
    ])
  }

  private func listProviders(_ family: IdentityAddress.ProviderFamily, query: QueryString, call: IdentityCall) throws -> JSON {
    let size = try Self.pageSize(query)
    let page = try accounts.providers.page(family.family, of: call.project, after: query["pageToken"], limit: size)
    return JSON(fields: [
      (family.rawValue, .array(page.map { ProviderFields.json($0, of: call.project) })),
      ("nextPageToken", page.count == size ? page.last.map { .string($0.id.text) } : nil),
    ])
  }

  private static func pageSize(_ query: QueryString) throws -> Int {
    guard let text = query["pageSize"], text != "0" else { return Int(pageSize) }
    guard let size = Int64(text), size > 0 else { throw IdentityError("INVALID_PAGE_SELECTION") }
    return Int(min(size, pageSizeMax))
  }

  // MARK: Changing

  private func change(_ method: HTTPMethod, at address: IdentityAddress, query: QueryString, call: IdentityCall) async throws
    -> JSON
  {
    let (body, project) = (call.fields.json.withoutNulls, call.project)
    switch (address, method) {
    case (.tenants, .POST):
      try TenantFields.check(body, named: [])
      let made = try await accounts.tenants.create(of: call.project, by: call.actor) {
        try TenantFields.apply(body, named: [], to: &$0, of: project)
      }
      return TenantFields.json(made, of: call.project)
    case (.tenant(let name, _), .PATCH):
      let id = try Self.tenant(name)
      let said = try FieldMask.paths(query["updateMask"])
      let paths = accounts.options.followsEmulator ? TenantFields.meaningful(said) : said
      // A mask that means nothing is not the mask that means everything.
      guard said.isEmpty || !paths.isEmpty else {
        return TenantFields.json(try await accounts.tenants.known(id, of: call.project), of: call.project)
      }
      try TenantFields.check(body, named: paths)
      _ = try await accounts.tenants.known(id, of: call.project)
      let changed = try await accounts.tenants.update(id, of: call.project, by: call.actor) {
        try TenantFields.apply(body, named: paths, to: &$0, of: project)
      }
      return TenantFields.json(changed, of: call.project)
    case (.tenant(let name, _), .DELETE):
      try await accounts.tenants.delete(try Self.tenant(name), of: call.project, by: call.actor)
      return [:]
    case (.providers(let family, _, _, let name), _):
      return try await changeProvider(method, of: family, name: name, query: query, body: body, call: call)
    default: throw IdentityError.notFound("Not Found: \(method.rawValue) does nothing here.")
    }
  }

  private func changeProvider(
    _ method: HTTPMethod, of family: IdentityAddress.ProviderFamily, name: String?, query: QueryString, body: JSON,
    call: IdentityCall
  ) async throws -> JSON {
    let isDevelopment = accounts.options.isDevelopment
    switch (method, name) {
    case (.POST, nil):
      // A client of another language may write the parameter in snake case.
      let parameter = family == .openIDConnect ? query["oauthIdpConfigId"] : query["inboundSamlConfigId"]
      guard let text = parameter, !text.isEmpty else { throw IdentityError("MISSING_CONFIG_ID") }
      try ProviderFields.check(body, of: family, named: [])
      let made = try ProviderFields.read(body, as: try Self.provider(text, of: family), family, isDevelopment: isDevelopment)
      try await accounts.providers.create(made, of: call.project, by: call.actor)
      return ProviderFields.json(made, of: call.project)
    case (.PATCH, let name?):
      let paths = try FieldMask.paths(query["updateMask"])
      try ProviderFields.check(body, of: family, named: paths)
      let project = call.project
      let id = try Self.provider(name, of: family)
      let changed = try await accounts.providers.update(id, of: project, by: call.actor) { current in
        let merged = FieldMask.applied(body, to: ProviderFields.json(current, of: project), named: paths)
        return try ProviderFields.read(merged, as: current.id, family, isDevelopment: isDevelopment)
      }
      return ProviderFields.json(changed, of: call.project)
    case (.DELETE, let name?):
      try await accounts.providers.delete(try Self.provider(name, of: family), of: call.project, by: call.actor)
      return [:]
    default: throw IdentityError.notFound("Not Found: \(method.rawValue) does nothing here.")
    }
  }

  // MARK: Names

  private static func tenant(_ name: String) throws -> TenantID {
    guard let id = TenantID(name) else { throw AccountError.unknownTenant }
    return id
  }

  private static func provider(_ name: String, of family: IdentityAddress.ProviderFamily) throws -> ProviderID {
    guard let id = ProviderID(name), name.hasPrefix(family.family.rawValue), name.utf8.count > family.family.rawValue.utf8.count
    else { throw IdentityError("INVALID_CONFIG_ID", "((The name must begin with \(family.family.rawValue))") }
    return id
  }

  private static func project(of address: IdentityAddress) -> String? {
    switch address {
    case .tenants(let project), .tenant(_, let project), .providers(_, let project, _, _): project
    default: nil
    }
  }

  /// How the audit log calls what is asked for.
  private static func action(of address: IdentityAddress, method: HTTPMethod) -> String {
    let verb =
      switch method {
      case .POST: "create"
      case .PATCH: "update"
      case .DELETE: "delete"
      default: "read"
      }
    if case .providers = address { return "accounts.provider.\(verb)" }
    return "accounts.tenant.\(verb)"
  }

  /// Never the body: it may hold a client's secret.
  private func record(_ action: String, address: IdentityAddress, call: IdentityCall, request: HTTPRequest, result: String) {
    var captures = ["project": call.project.name, "tenant": call.project.scope.tenant ?? ""]
    if case .tenant(let name, _) = address { captures["tenant"] = name }
    if case .providers(_, _, _, let name?) = address { captures["provider"] = name }
    surface.audit.record(
      action, by: call.actor, captures: captures, query: QueryString(), body: nil, requestID: request.requestID,
      result: result)
  }
}

extension IdentityAddress.ProviderFamily {
  /// The same, as the accounts call it.
  var family: ProviderConfiguration.Family { self == .openIDConnect ? .openIDConnect : .saml }
}
