import APISupport
import AdminModel
import Credentials
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeDatabase
import TreeModel

/// Sessions of administrators at the server's own pages.
enum SessionRoutes {
  static let routes: [Route] = [
    Route.get("/admin/v1/session", AdminSessions.current.summary) { call in
      try response(call, of: try sessions(call).session(call.request.headers))
    }.described(RouteDescription(of: AdminSessions.current)),
    .responding(to: AdminSessions.signIn, audit: nil, response: signIn),
    .responding(to: AdminSessions.signOut, audit: nil, response: signOut),
    Route.get(RouteTemplate(stringLiteral: AdminSessions.list.template), AdminSessions.list.summary, access: .role(.admin)) {
      .json(JSON(encoding: try list($0)))
    }.described(RouteDescription(of: AdminSessions.list)),
    .changing(AdminSessions.end, audit: "sessions.end", answer: end),
  ]

  private static func sessions(_ call: RouteCall) throws -> ConsoleSessions {
    guard let sessions = call.services.sessions, sessions.settings.isEnabled else {
      throw APIError(.notFound, "not_available", "This server has no console: \"console.enabled\" is false.")
    }
    return sessions
  }

  private static func response(_ call: RouteCall, of session: ConsoleSessions.Session?) throws -> HTTPResponse {
    let sessions = try sessions(call)
    let takesOwner = sessions.takesOwner(isForeign: call.services.isForeign(call.request.headers))
    var current = AdminSessions.Current(
      mode: call.services.isDevelopment ? .development : .production,
      ways: (takesOwner ? [.owner, .key] : [.key]) + (PlayerSignIn(call, settings: sessions.settings) == nil ? [] : [.account]))
    if let session {
      current.signedIn = true
      current.actor = session.caller.actor.description
      current.role = session.caller.role?.rawValue
      current.csrf = session.csrf
      current.idleUntil = Timestamp(sessions.idleEnd(of: session))
      current.until = Timestamp(session.endsAt)
      current.namespace = call.services.defaultNamespace
      current.version = call.services.version
    }
    var response = HTTPResponse.json(JSON(encoding: current))
    response.isForOwnPages = true
    return response
  }

  private static func signIn(_ call: RouteCall, order: AdminSessions.SignInOrder) async throws -> HTTPResponse {
    let sessions = try sessions(call)
    let headers = call.request.headers
    try sessions.checkPage(headers)
    guard [order.key != nil, order.idToken != nil, order.as != nil].count(where: { $0 }) == 1 else {
      throw APIError.badRequest(
        "Say one of \"key\" (an administrator's token), \"idToken\" (a player's) and \"as\": \"owner\" (in development).")
    }
    let key: String
    switch order.as {
    case .owner:
      guard sessions.takesOwner(isForeign: call.services.isForeign(headers)) else {
        throw APIError(
          .unauthorized, "wrong_credential", "Here the owner needs the token that the server printed when it started.")
      }
      key = ConsoleSessions.owner
    case .key, .account: throw APIError.badRequest("Say the credential itself: \"key\" or \"idToken\".")
    case nil: key = order.key ?? ""
    }
    do {
      let (session, secret) =
        if let token = order.idToken {
          try sessions.open(from: call.request.client) { PlayerSignIn(call, settings: sessions.settings)?.judge(token) }
        } else {
          try sessions.open(key, isForeign: call.services.isForeign(headers), from: call.request.client)
        }
      // Who signs in again goes on in the new session.
      sessions.close(headers)
      // In development namespaces come with their first write: who signs in before that finds an empty one.
      if call.services.createsNamespaces {
        _ = try? await call.services.database.openNamespace(named: call.services.defaultNamespace)
      }
      record("session.open", by: session.caller.actor, call: call, id: session.id)
      var response = try response(call, of: session)
      response.headers.append(sessions.cookie(secret, for: headers))
      return response
    } catch let error as APIError where error.status != .tooManyRequests {
      call.services.audit.recordUnauthenticated("session.open", by: .anonymous, result: error.message)
      throw error
    }
  }

  private static func signOut(_ call: RouteCall, body _: NoBody) async throws -> HTTPResponse {
    let sessions = try sessions(call)
    let headers = call.request.headers
    try sessions.checkPage(headers)
    if let session = try sessions.session(headers) {
      sessions.close(headers)
      record("session.close", by: session.caller.actor, call: call, id: session.id)
    }
    var response = HTTPResponse.json(JSON(encoding: Done()))
    response.isForOwnPages = true
    response.headers.append(sessions.cookie(nil, for: headers))
    return response
  }

  private static func record(_ action: String, by actor: Actor, call: RouteCall, id: String) {
    call.services.audit.record(
      action, by: actor, captures: ["session": id, "address": call.request.client.description, "via": "console"],
      query: call.query, body: nil,
      requestID: call.request.requestID, result: "ok")
  }

  private static func list(_ call: RouteCall) throws -> AdminSessions.List {
    let sessions = try sessions(call)
    let own = try sessions.session(call.request.headers)?.id
    return AdminSessions.List(
      sessions: sessions.all.map { session in
        AdminSessions.Session(
          id: session.id, actor: session.caller.actor.description, role: session.caller.role?.rawValue ?? "",
          address: session.client.description, current: session.id == own,
          times: AdminSessions.Session.Times(
            created: Timestamp(session.createdAt), active: Timestamp(session.activeAt),
            end: Timestamp(sessions.idleEnd(of: session))))
      })
  }

  private static func end(_ call: RouteCall, body _: NoBody) async throws -> Done {
    guard try sessions(call).close(id: call.captures["id"] ?? "") else {
      throw APIError(.notFound, "not_found", "There is no such session; it may have ended.")
    }
    return Done()
  }
}
