import Credentials
package import Logging
package import NIOCore
import NIOHTTP1
package import NIOPosix
package import StorageCore
import TreeModel

/// Answers what is declared as a list of routes: everything but the tree.
package struct RouteTable: Sendable {
  private let routes: [BoundRoute]
  private let callers: CallerIdentification
  private let isDevelopment: Bool
  private let pool: NIOThreadPool
  private let audit: any RequestAuditing
  private let logger: Logger
  private let downloads = DownloadCount(max: 8)

  /// - `isDevelopment`: whether the tools of development are there.
  /// - `pool`: for routes that read the store.
  /// - `audit`: told of what is done and refused.
  /// - `logger`: told of errors that nothing says an answer for.
  package init(
    routes: [BoundRoute], callers: CallerIdentification, isDevelopment: Bool, pool: NIOThreadPool,
    audit: any RequestAuditing, logger: Logger
  ) {
    self.routes = routes
    self.callers = callers
    self.isDevelopment = isDevelopment
    self.pool = pool
    self.audit = audit
    self.logger = logger
  }

  package func respond(to request: HTTPRequest, _ target: RequestTarget, sink: ResponseSink) {
    var sink = sink
    guard let path = target.segments else {
      return sink.send(APIError.badRequest("The path must be UTF-8, percent-encoded.").adminResponse)
    }
    let matches = matches(path)
    if request.method == .OPTIONS { return sink.send(Self.preflight(matches.map(\.0))) }
    guard let (route, captures) = matches.first(where: { $0.0.head.method == request.method }) else {
      return sink.send(Self.notFound(path, allowed: matches.map(\.0.head.method)).adminResponse)
    }
    sink.routeClass = path.first == "admin" ? .admin : .operation
    // No other page may read what the browser's cookie has opened.
    sink.isForOwnPages = sink.routeClass == .admin && request.headers.contains(name: "cookie")
    var caller = Caller.anonymous
    let call: APICall<Void>
    do {
      caller = try self.caller(of: request, target: target, for: route)
      sink.standing = caller.standing
      call = APICall(request: request, captures: captures, query: target.query, caller: caller, services: ())
      try admit(caller, to: route)
    } catch {
      let error = answer(to: error, of: route, request: request)
      // What an administrator may not is on record, also where nothing would have changed; refused clients without
      // credentials must not fill the log.
      if caller.role != nil {
        audit.record(
          route.head.audit ?? route.head.template.text, by: caller.actor,
          captures: traced(captures, of: caller, request: request),
          query: target.query, body: request.body, requestID: request.requestID, result: error.message)
      } else if let action = route.head.audit {
        audit.recordUnauthenticated(action, by: caller.actor, result: error.message)
      }
      return sink.send(error.adminResponse)
    }
    do {
      try route.head.description?.check(call)
    } catch {
      let error = answer(to: error, of: route, request: request)
      record(call, of: route, result: error.message)
      return sink.send(error.adminResponse)
    }
    run(route, call: call, sink: sink)
  }

  /// The routes at an address: of those that match, the ones that name most of it. `/replays/preview` is no replay's number.
  private func matches(_ path: [String]) -> [(route: BoundRoute, captures: [String: String])] {
    let all = routes.compactMap { route in route.head.template.match(path).map { (route: route, captures: $0) } }
    let most = all.map(\.route.head.template.literalCount).max()
    return all.filter { $0.route.head.template.literalCount == most }
  }

  /// What may be done at an address; anything where there is nothing.
  private static func preflight(_ matches: [BoundRoute]) -> HTTPResponse {
    guard !matches.isEmpty else { return .preflight }
    let methods = matches.map(\.head.method)
    let names = Set(methods.map(\.rawValue)).union(methods.contains(.GET) ? ["HEAD", "OPTIONS"] : ["OPTIONS"])
    return .preflight(allowing: names.sorted().joined(separator: ", "))
  }

  private static func notFound(_ path: [String], allowed: [HTTPMethod]) -> APIError {
    guard allowed.isEmpty else {
      let methods = allowed.map(\.rawValue).joined(separator: ", ")
      return APIError(
        .methodNotAllowed, "method_not_allowed", "This address answers \(methods) only.",
        headers: [HTTPResponse.Header("Allow", methods)])
    }
    if path.first == "admin" {
      return APIError(.notFound, "unknown_route", "There is no such route; GET /admin/v1 lists all there are.")
    }
    return APIError(
      .notFound, "unknown_route",
      "Nothing is here: append .json to your request URI to use the REST API; GET /admin/v1 lists the admin surface.")
  }

  private func caller(of request: HTTPRequest, target: RequestTarget, for route: BoundRoute) throws -> Caller {
    let isOfAdministrators = target.segments?.first == "admin"
    if isOfAdministrators { try callers.checkName(request, query: target.query) }
    if isOpen(route) { return .anonymous }
    let caller =
      isOfAdministrators
      ? try callers.administrator(request, query: target.query) : try callers.caller(request.headers, query: target.query)
    guard caller.role != nil else {
      throw APIError(
        .unauthorized, "unauthenticated", "This needs an administrator's credentials: send Authorization: Bearer TOKEN.",
        headers: [HTTPResponse.Header("WWW-Authenticate", "Bearer")])
    }
    return caller
  }

  /// Refuses who has not the role, and the tools of development in production: to people whose names go on record.
  private func admit(_ caller: Caller, to route: BoundRoute) throws {
    guard !isOpen(route), let needed = route.head.role else { return }
    guard let role = caller.role, role >= needed else {
      throw APIError(
        .forbidden, "role_needed",
        "This takes the role \(needed.rawValue), and \(caller.actor) is \(caller.role?.rawValue ?? "none"); ask an administrator."
      )
    }
    if case .adminInDevelopment = route.head.access, !isDevelopment {
      throw APIError(.forbidden, "development_only", "This exists in development only (doubloon dev).")
    }
    if route.head.needsProof, caller.isProofOld {
      throw APIError(
        .forbidden, "proof_needed", "This cannot be undone, and the sign-in is 30 minutes old: show the credential once more.")
    }
  }

  private func isOpen(_ route: BoundRoute) -> Bool {
    switch route.head.access {
    case .open: true
    case .roleInProduction: isDevelopment
    case .role, .adminInDevelopment: false
    }
  }

  private func run(_ route: BoundRoute, call: APICall<Void>, sink: ResponseSink) {
    switch route.action {
    case .immediate(let body): sink.send(response(of: route, request: call.request) { try body(call) })
    case .blocking(let body):
      pool.submit { state in
        guard case .active = state else {
          return sink.send(APIError(.serviceUnavailable, "unavailable", "The server is shutting down.").adminResponse)
        }
        sink.send(response(of: route, request: call.request) { try body(call) })
      }
    case .streaming(let body):
      do {
        try body(call, sink)
      } catch {
        sink.send(answer(to: error, of: route, request: call.request).adminResponse)
      }
    case .waiting(let body):
      sink.eventLoop.makeFutureWithTask { () async -> HTTPResponse in
        let (response, outcome): (HTTPResponse, String)
        do {
          (response, outcome) = (try await body(call), "ok")
        } catch {
          let error = answer(to: error, of: route, request: call.request)
          (response, outcome) = (error.adminResponse, error.message)
        }
        record(call, of: route, result: outcome)
        return response
      }.whenSuccess { sink.send($0) }
    case .downloading(let body):
      pool.submit { state in
        do {
          guard case .active = state else {
            throw APIError(.serviceUnavailable, "unavailable", "The server is shutting down.")
          }
          let download = try body(call)
          record(call, of: route, result: "ok")
          sink.send(download, limitedBy: downloads, pool: pool)
        } catch {
          let error = answer(to: error, of: route, request: call.request)
          record(call, of: route, result: error.message)
          sink.send(error.adminResponse)
        }
      }
    }
  }

  /// Puts what a caller did on record.
  private func record(_ call: APICall<Void>, of route: BoundRoute, result: String) {
    guard let action = route.head.audit else { return }
    audit.record(
      action, by: call.caller.actor, captures: traced(call.captures, of: call.caller, request: call.request),
      query: call.query, body: call.request.body, requestID: call.request.requestID, result: result)
  }

  /// What stands on record of where a request was: of one of the server's own pages, that it was one, and from which address.
  private func traced(_ captures: [String: String], of caller: Caller, request: HTTPRequest) -> [String: String] {
    guard caller.isFromPage else { return captures }
    return captures.merging(["via": "console", "address": request.client.description]) { _, trace in trace }
  }

  private func response(of route: BoundRoute, request: HTTPRequest, _ body: () throws -> HTTPResponse) -> HTTPResponse {
    do {
      return try body()
    } catch {
      return answer(to: error, of: route, request: request).adminResponse
    }
  }

  /// The only place where what a route throws becomes an answer.
  ///
  /// An error that nothing says an answer for is a mistake in this program. What it tells of the inside goes to the log, and
  /// the client learns no more than that there is something to look up.
  private func answer(to error: any Error, of route: BoundRoute, request: HTTPRequest) -> APIError {
    if let error = error as? any APIErrorConvertible { return error.apiError }
    logger.error(
      "a route failed with an error that has no answer",
      metadata: [
        "route": "\(route.head.method.rawValue) \(route.head.template.text)", "kind": "\(type(of: error))", "error": "\(error)",
        "request": "\(request.requestID)",
      ])
    return APIError(
      .internalServerError, "internal", "The server failed to answer this request; its operators find the reason in its log.")
  }
}

/// Records what administrators do, and what was refused.
package protocol RequestAuditing: Sendable {
  /// Records what a caller with an administrator's credentials did.
  ///
  /// - `requestID`: what the request is called; nil where that is not known.
  /// - `result`: `ok`, or why it was refused.
  func record(
    _ action: String, by actor: Actor, captures: [String: String], query: QueryString, body: ByteBuffer?, requestID: String?,
    result: String)
  /// Records a refused caller without such credentials; only so many are kept.
  func recordUnauthenticated(_ action: String, by actor: Actor, result: String)
}
