import APISupport
package import Accounts
import Credentials
package import HTTPServer
import NIOCore
import NIOHTTP1
import StorageCore
import TreeModel

/// The accounts' surface: the Identity Toolkit and Secure Token protocols, as unmodified Firebase SDKs speak them.
package struct IdentitySurface: RequestSurface {
  package let services: IdentityServices
  package let accounts: AccountService
  package var audit: any RequestAuditing { services.audit }

  package init(services: IdentityServices, accounts: AccountService) {
    self.services = services
    self.accounts = accounts
  }

  package var isDevelopment: Bool { services.isDevelopment }

  /// Answers a request if it is this surface's; false if it is not.
  package func respond(to request: HTTPRequest, _ target: RequestTarget, sink: ResponseSink) -> Bool {
    guard let path = target.segments else { return false }
    if isDevelopment, path.isEmpty, request.method == .GET {
      sink.send(.json(["authEmulator": ["ready": true, "docs": "https://github.com/firebase/firebase-tools"]]))
      return true
    }
    if isDevelopment, path.isEmpty, request.method == .OPTIONS {
      sink.send(Self.preflight(request))
      return true
    }
    guard let address = IdentityAddress(path) else {
      guard IdentityAddress.isPrefixed(path) else { return false }
      sink.send(Self.answer(IdentityError.notFound("Not Found: there is no such method here.")))
      return true
    }
    var sink = sink
    sink.routeClass = .account
    if request.method == .OPTIONS {
      sink.send(Self.preflight(request))
      return true
    }
    let taken = sink
    sink.eventLoop.makeFutureWithTask { [self] () async -> HTTPResponse in
      do {
        return try await respond(to: request, query: target.query, at: address)
      } catch {
        return Self.answer(IdentityError(error))
      }
    }.whenSuccess { taken.send($0) }
    return true
  }

  private func respond(to request: HTTPRequest, query: QueryString, at address: IdentityAddress) async throws
    -> HTTPResponse
  {
    switch address {
    case .method(let name, let project, let tenant):
      guard let route = IdentityRoute.byName[name] else { throw IdentityError.notFound("Not Found: \(name)") }
      guard let method = SignInMethod(call: route.name) else {
        return try await run(route, request: request, query: query, project: project, tenant: tenant)
      }
      return try await counted(method) {
        try await run(route, request: request, query: query, project: project, tenant: tenant)
      }
    case .token:
      return try await counted(.refresh) {
        .json(try await SignInCalls.refresh(accounts, call: try await call(request, query: query, project: nil)))
      }
    case .clientConfiguration:
      return .json(ProjectConfiguration.forClients(accounts, of: try await call(request, query: query, project: nil).project))
    case .recaptchaParameters:
      return .json([
        "kind": "identitytoolkit#GetRecaptchaParamResponse", "recaptchaStoken": "not-checked-here",
        "recaptchaSiteKey": "not-checked-here",
      ])
    case .recaptchaConfiguration: return .json(["recaptchaEnforcementState": []])
    case .passwordPolicy:
      return .json(
        try ProjectConfiguration.passwordPolicy(
          accounts, of: try await call(request, query: query, project: nil).project))
    case .tenants, .tenant, .providers:
      return try await ManagementRoutes(surface: self).respond(to: request, query: query, at: address)
    case .unsupported(let what):
      if case .passkeys(let method) = what {
        try Self.checkPasskeys(method, try await projectCall(request, query: query, project: nil).fields)
      }
      throw IdentityError.unsupported(what)
    case .configuration(let project): return try await configuration(request, query: query, project: project)
    case .certificates, .keys: return try keys(address)
    case .action: return try await ActionPage(surface: self).respond(to: request, query: query)
    case .emulatorAccounts, .emulatorCodes, .emulatorPhoneCodes, .emulatorConfiguration, .signInPage, .signInFrame:
      return try await EmulatorRoutes(surface: self).respond(to: request, query: query, at: address)
    }
  }

  /// Counts a sign-in by what comes of it.
  private func counted(_ method: SignInMethod, _ answer: () async throws -> HTTPResponse) async throws -> HTTPResponse {
    do {
      let response = try await answer()
      services.metrics.signIns.count(method, isRefused: false)
      return response
    } catch {
      services.metrics.signIns.count(method, isRefused: true)
      throw error
    }
  }

  private func run(_ route: IdentityRoute, request: HTTPRequest, query: QueryString, project: String?, tenant: String?)
    async throws -> HTTPResponse
  {
    guard request.method == route.method || (route.name == "batchGet" && request.method == .POST) else {
      throw IdentityError.notFound("Not Found: \(route.name) answers \(route.method.rawValue) only.")
    }
    let call: IdentityCall
    do {
      call = try await self.call(request, query: query, project: project, tenant: tenant)
      guard call.isPrivileged || !route.isAdministrators else {
        throw IdentityError.permissionDenied(
          "\(route.name) needs an administrator's credentials: send Authorization: Bearer TOKEN.")
      }
    } catch {
      let isAdministrators = route.isAdministrators || request.headers.bearer != nil
      if isAdministrators { recordRefusal("accounts.\(route.name)", headers: request.headers, project: project, error: error) }
      throw error
    }
    guard call.isPrivileged, route.isChange else { return .json(try await route.answer(accounts, call)) }
    // What administrators did and tried to do; never the body, which holds passwords and codes.
    let captures = ["project": call.project.name, "tenant": call.project.scope.tenant ?? "", "localId": call.localID]
    do {
      let answer = try await route.answer(accounts, call)
      audit.record(
        "accounts.\(route.name)", by: call.actor, captures: captures, query: QueryString(), body: nil,
        requestID: request.requestID, result: "ok")
      return .json(answer)
    } catch {
      audit.record(
        "accounts.\(route.name)", by: call.actor, captures: captures, query: QueryString(), body: nil,
        requestID: request.requestID, result: IdentityError(error).message)
      throw error
    }
  }

  private func configuration(_ request: HTTPRequest, query: QueryString, project: String) async throws
    -> HTTPResponse
  {
    let call: IdentityCall
    do {
      call = try await projectCall(request, query: query, project: project)
      guard call.isPrivileged else { throw IdentityError.permissionDenied("The configuration is the administrators'.") }
    } catch {
      recordRefusal("accounts.configure", headers: request.headers, project: project, error: error)
      throw error
    }
    switch request.method {
    case .GET: break
    case .PATCH:
      try await ProjectConfiguration.change(accounts, call, mask: query["updateMask"], merges: false)
      audit.record(
        "accounts.configure", by: call.actor, captures: ["project": project], query: QueryString(), body: request.body,
        requestID: request.requestID, result: "ok")
    default: throw IdentityError.notFound("Not Found: the configuration answers GET and PATCH only.")
    }
    return .json(try ProjectConfiguration.show(accounts, of: call.project))
  }

  /// The public keys, for others who verify tokens.
  private func keys(_ address: IdentityAddress) throws -> HTTPResponse {
    let ring = accounts.issuer.keys.ring
    let json: JSON
    do {
      json = address == .certificates ? try ring.certificates() : ring.jwks
    } catch {
      throw IdentityError.unavailable("The keys cannot be published: \(error)")
    }
    return .json(json).adding("Cache-Control", value: "public, max-age=\(type(of: ring).cacheSeconds)")
  }

  /// An error in the protocol's shape.
  static func answer(_ error: IdentityError) -> HTTPResponse {
    let message = JSON.string(error.message)
    let body: JSON = .record([
      ("code", .int(Int64(error.status))), ("message", message),
      ("errors", [["message": message, "reason": "invalid", "domain": "global"]]),
      ("status", error.statusName.map(JSON.string)),
    ])
    return .json(["error": body], status: HTTPResponseStatus(statusCode: error.status))
  }

  /// Refuses a call of passkeys that would be wrong wherever there are such.
  private static func checkPasskeys(_ method: String, _ fields: IdentityFields) throws {
    let isEnrollment = method.hasPrefix("passkeyEnrollment")
    if isEnrollment { _ = try fields.required("idToken", orThrow: "MISSING_ID_TOKEN") }
    let answer = isEnrollment ? "authenticatorRegistrationResponse" : "authenticatorAuthenticationResponse"
    guard !method.hasSuffix(":finalize") || fields[answer] != nil else {
      throw IdentityError("MISSING_AUTHENTICATOR_RESPONSE")
    }
  }

  private static func preflight(_ request: HTTPRequest) -> HTTPResponse {
    var response = HTTPResponse.empty(.noContent)
    response = response.adding("Access-Control-Allow-Methods", value: "GET, HEAD, PUT, PATCH, POST, DELETE")
    response = response.adding(
      "Access-Control-Allow-Headers",
      value: request.headers.first(name: "access-control-request-headers") ?? "Authorization, Content-Type, X-Client-Version")
    if request.headers.contains(name: "access-control-request-private-network") {
      response = response.adding("Access-Control-Allow-Private-Network", value: "true")
    }
    return response.adding("Access-Control-Max-Age", value: "3600")
  }
}

extension IdentitySurface {
  /// Puts on record that somebody was refused what is an administrator's.
  ///
  /// - `action`: what was asked for: `accounts.batchCreate`.
  /// - `project`: the project that the path named.
  /// - `error`: only what is about credentials is recorded; the rest is the client's own mistake.
  func recordRefusal(_ action: String, headers: HTTPHeaders, project: String?, error: any Error) {
    let error = IdentityError(error)
    guard error.status == 401 || error.status == 403 else { return }
    let credentials = headers.bearer.map {
      RequestCredentials(accessToken: $0, isForeign: services.isForeign(headers))
    }
    let caller = credentials.flatMap { try? services.authenticator.caller($0) } ?? .anonymous
    guard caller.role != nil else { return audit.recordUnauthenticated(action, by: caller.actor, result: error.message) }
    audit.record(
      action, by: caller.actor, captures: ["project": project ?? defaultProject], query: QueryString(), body: nil,
      requestID: nil, result: IdentityError(error).message
    )
  }
}

extension SignInMethod {
  /// The method that a call of the protocol is; nil for one that signs nobody in.
  fileprivate init?(call: String) {
    switch call {
    case "signUp": self = .signUp
    case "signInWithPassword": self = .password
    case "signInWithCustomToken": self = .customToken
    case "signInWithIdp": self = .provider
    case "signInWithEmailLink": self = .emailLink
    case "signInWithPhoneNumber": self = .phone
    case "mfaSignIn:finalize": self = .secondFactor
    default: return nil
    }
  }
}
