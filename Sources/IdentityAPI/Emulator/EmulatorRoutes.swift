import APISupport
import Accounts
import HTTPServer
import NIOHTTP1
import TreeModel

/// What emulators have beside the protocol, for tests (spec: auth-protocol §2.8). In development only.
struct EmulatorRoutes {
  let surface: IdentitySurface

  func respond(to request: HTTPRequest, _ query: QueryString, at address: IdentityAddress) async throws(AccountError)
    -> HTTPResponse
  {
    guard surface.isDevelopment else { throw .notFound("This exists in development only (doubloon dev).") }
    let book = surface.book
    switch (address, request.method) {
    case (.emulatorAccounts(let name), .DELETE):
      let call = try await call(request, query, name)
      try await book.deleteAll(call.project, by: call.actor)
      return .json([:])
    case (.emulatorCodes(let name), .GET): return .json(book.mailedCodes(of: try await call(request, query, name).project))
    case (.emulatorPhoneCodes(let name), .GET):
      return .json(book.phoneCodes(of: try await call(request, query, name).project))
    case (.emulatorConfiguration(let name), .GET):
      return .json(try book.emulatorConfiguration(of: try await call(request, query, name).project))
    case (.emulatorConfiguration(let name), .PATCH):
      let call = try await call(request, query, name)
      try await book.configure(call, mask: [], merges: true)
      return .json(try book.emulatorConfiguration(of: call.project))
    case (.signInPage, .GET):
      // Whoever opens it sees who has accounts; the key names the project, as in every call of an application.
      guard query["apiKey"]?.isEmpty == false else { throw AccountError("MISSING_API_KEY", "SDKs add apiKey.") }
      return try SignInPage(surface: surface).choice(
        query, try await call(request, QueryString(), surface.defaultProject).project)
    case (.signInFrame, .GET): return SignInPage.frame
    default: throw .notFound("Not Found: \(request.method.rawValue) does nothing here.")
    }
  }

  /// Open where everybody may be the owner; elsewhere an administrator's.
  private func call(_ request: HTTPRequest, _ query: QueryString, _ project: String) async throws(AccountError) -> IdentityCall
  {
    var request = request
    if request.headers.first(name: "authorization") == nil {
      // The page that shows accounts is opened by pages of other sites; a host that was rebound would read it.
      let isForeign = surface.services.origins?.trustsHost(request.headers) == false
      let asOwner = RequestCredentials(accessToken: "owner", isForeign: isForeign)
      guard (try? surface.services.authenticator.caller(asOwner))?.isAdmin == true else {
        throw .unauthenticated("This needs an administrator's token: send Authorization: Bearer TOKEN.")
      }
      request = HTTPRequest(
        method: request.method, uri: request.uri, headers: ["authorization": "Bearer owner"], body: request.body)
    }
    return try await surface.call(request, query, project: project)
  }
}
