import APISupport
import Accounts
import HTTPServer
import NIOHTTP1
import TreeModel

/// What emulators have beside the protocol, for tests. In development only.
struct EmulatorRoutes {
  let surface: IdentitySurface

  func respond(to request: HTTPRequest, query: QueryString, at address: IdentityAddress) async throws
    -> HTTPResponse
  {
    guard surface.isDevelopment else { throw IdentityError.notFound("This exists in development only (doubloon dev).") }
    let accounts = surface.accounts
    switch (address, request.method) {
    case (.emulatorAccounts(let name, let tenant), .DELETE):
      let call = try await call(request, query: query, project: name, tenant: tenant)
      try await accounts.removeAll(of: call.project, by: call.actor)
      return .json([:])
    case (.emulatorCodes(let name, let tenant), .GET):
      let call = try await call(request, query: query, project: name, tenant: tenant)
      return .json(AdministratorCalls.mailedCodes(accounts, of: call.project))
    case (.emulatorPhoneCodes(let name, let tenant), .GET):
      let call = try await call(request, query: query, project: name, tenant: tenant)
      return .json(AdministratorCalls.phoneCodes(accounts, of: call.project))
    case (.emulatorConfiguration(let name), .GET):
      return .json(
        try ProjectConfiguration.showForEmulator(accounts, of: try await call(request, query: query, project: name).project))
    case (.emulatorConfiguration(let name), .PATCH):
      let call = try await call(request, query: query, project: name)
      try await ProjectConfiguration.change(accounts, call, mask: nil, merges: true)
      return .json(try ProjectConfiguration.showForEmulator(accounts, of: call.project))
    case (.signInPage, .GET):
      // Anyone who opens it sees who has accounts; the key names the project, as in every call of an application.
      guard query["apiKey"]?.isEmpty == false else { throw IdentityError("MISSING_API_KEY", "SDKs add apiKey.") }
      return try SignInPage(surface: surface).choice(
        query,
        project: try await call(
          request, query: QueryString(), project: surface.defaultProject, tenant: query["tid"] ?? query["tenantId"]
        ).project)
    case (.signInFrame, .GET): return SignInPage.frame
    default: throw IdentityError.notFound("Not Found: \(request.method.rawValue) does nothing here.")
    }
  }

  /// Open where everybody may be the owner; elsewhere an administrator's.
  private func call(_ request: HTTPRequest, query: QueryString, project: String, tenant: String? = nil) async throws
    -> IdentityCall
  {
    var request = request
    if request.headers.first(name: "authorization") == nil {
      // The page that shows accounts is opened by pages of other sites; a host that was rebound would read it.
      let isForeign = surface.services.origins?.trustsHost(request.headers) == false
      let asOwner = RequestCredentials(accessToken: "owner", isForeign: isForeign)
      guard (try? surface.services.authenticator.caller(asOwner))?.isAdmin == true else {
        throw IdentityError.unauthenticated("This needs an administrator's token: send Authorization: Bearer TOKEN.")
      }
      request = HTTPRequest(
        method: request.method, uri: request.uri, headers: ["authorization": "Bearer owner"], body: request.body)
    }
    return try await surface.call(request, query: query, project: project, tenant: tenant)
  }
}
