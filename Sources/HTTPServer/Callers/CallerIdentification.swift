package import NIOHTTP1

/// Authenticates a request: by its credentials, and by where it may come from.
package struct CallerIdentification: Sendable {
  package let authenticator: any Authenticating
  /// Which origins may use the developer's token; nil in production, where no token is known to everybody.
  package let origins: DevelopmentOrigins?
  /// The sessions of the server's own pages; nil where it has none.
  package let pages: (any PageSessions)?

  package init(authenticator: any Authenticating, origins: DevelopmentOrigins?, pages: (any PageSessions)? = nil) {
    self.authenticator = authenticator
    self.origins = origins
    self.pages = pages
  }

  /// Whether a foreign web page may have sent a request with these headers; never so in production.
  package func isForeign(_ headers: HTTPHeaders) -> Bool { origins?.trusts(headers) == false }

  /// Refuses a request to the administrators' surface by a name that the server's own pages do not have: a link's domain, or
  /// whatever name somebody has pointed here. What a browser sends by itself is for the pages' names alone, and so are sign-ins.
  ///
  /// A request that brings a key passes: no browser adds one by itself, its sender means this server, and programs reach it
  /// by names and addresses that no configuration knows.
  func checkName(_ request: HTTPRequest, query: QueryString) throws(APIError) {
    guard let pages, !request.headers.contains(name: "authorization"), query["access_token"] == nil, query["auth"] == nil else {
      return
    }
    try pages.checkName(request.headers)
  }

  /// Who sends a request to the administrators' surface: who it says, or else whose session its page has.
  func administrator(_ request: HTTPRequest, query: QueryString) throws -> Caller {
    let headers = request.headers
    if let pages, !headers.contains(name: "authorization"), headers.contains(name: "cookie"),
      let caller = try pages.caller(request.method, headers: headers)
    {
      return caller
    }
    return try caller(headers, query: query)
  }

  /// Who sends a request with these headers and parameters.
  package func caller(_ headers: HTTPHeaders, query: QueryString) throws(AccessError) -> Caller {
    try authenticator.caller(
      RequestCredentials(
        accessToken: headers.bearer ?? query["access_token"], idToken: query["auth"], isForeign: isForeign(headers)))
  }
}

/// What a request says about who sent it, as it was sent.
package struct RequestCredentials: Sendable {
  /// The token behind `Bearer` in the `Authorization` header, or in `access_token`.
  package let accessToken: String?
  /// The parameter `auth`: an ID token.
  package let idToken: String?
  /// The parameter `auth_variable_override`, as JSON text.
  package let override: String?

  /// Whether a foreign web page may have sent it (``DevelopmentOrigins``): then what everybody knows proves nothing.
  package let isForeign: Bool

  package init(accessToken: String? = nil, idToken: String? = nil, override: String? = nil, isForeign: Bool = false) {
    self.accessToken = accessToken
    self.idToken = idToken
    self.override = override
    self.isForeign = isForeign
  }
}

/// Authenticates clients; accounts implement it.
package protocol Authenticating: Sendable {
  /// Finds out who sent the credentials.
  ///
  /// Called for every request, on the event loop: what it looks up must be in memory, or one point read away.
  func caller(_ credentials: RequestCredentials) throws(AccessError) -> Caller
  /// Whether credentials that were accepted have become void before their end. Asked by connections that outlive a request.
  func isVoid(_ caller: Caller) -> Bool
}

extension Authenticating {
  package func isVoid(_ caller: Caller) -> Bool { false }
}

/// Why credentials were not accepted (Firebase's REST reference, error conditions).
package struct AccessError: Error, Sendable, Hashable {
  /// What the client is told.
  package let message: String
  /// Whether the same credentials may be good in a moment: what they are judged by is not at hand.
  package let isTemporary: Bool

  package init(_ message: String, isTemporary: Bool = false) {
    self.message = message
    self.isTemporary = isTemporary
  }

  /// The development administrator's token, sent by a page or to a host that is not trusted.
  package static let foreignOwner = AccessError(
    "\"owner\" is not believed from this page or host: use localhost or an address, or start the server with --allow-host NAME."
  )

  /// A token whose time is over, or that was made void.
  package static let expiredToken = AccessError("Auth token is expired")

  /// A token that is no token.
  package static let malformedToken = AccessError("Could not parse auth token.")
}

extension HTTPHeaders {
  /// The token behind `Bearer` in the last `Authorization` header; nil if there is none, or one of another kind.
  package var bearer: String? { self["authorization"].last.flatMap(Self.bearer) }

  /// The token behind `Bearer` in the value of an `Authorization` header.
  package static func bearer(in authorization: String) -> String? {
    guard authorization.utf8.count > 7, authorization.prefix(7).lowercased() == "bearer " else { return nil }
    return String(authorization.dropFirst(7))
  }
}
