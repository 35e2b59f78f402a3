package import NIOHTTP1

/// Finds out who sends a request: by its credentials, and by where it may come from.
package struct CallerIdentification: Sendable {
  package let authenticator: any Authenticating
  /// Whom a server in development takes for its developer; nil in production, where no token is known to everybody.
  package let origins: DevelopmentOrigins?

  package init(authenticator: any Authenticating, origins: DevelopmentOrigins?) {
    self.authenticator = authenticator
    self.origins = origins
  }

  /// Whether a web page of somebody else may have sent a request with these headers; never so in production.
  package func isForeign(_ headers: HTTPHeaders) -> Bool { origins?.trusts(headers) == false }

  /// Who sends a request with these headers and parameters.
  func caller(_ headers: HTTPHeaders, _ query: QueryString) throws(AccessError) -> Caller {
    try authenticator.caller(
      RequestCredentials(
        accessToken: headers.bearer ?? query["access_token"], idToken: query["auth"], isForeign: isForeign(headers)))
  }
}

/// What a request says about who sent it, as it was sent.
package struct RequestCredentials: Sendable {
  /// What stands behind `Bearer` in the `Authorization` header, or in `access_token`.
  package let accessToken: String?
  /// The parameter `auth`: an ID token.
  package let idToken: String?
  /// The parameter `auth_variable_override`, as JSON text.
  package let override: String?

  /// Whether a web page of somebody else may have sent it (``DevelopmentOrigins``): then what everybody knows proves nothing.
  package let isForeign: Bool

  package init(accessToken: String? = nil, idToken: String? = nil, override: String? = nil, isForeign: Bool = false) {
    self.accessToken = accessToken
    self.idToken = idToken
    self.override = override
    self.isForeign = isForeign
  }
}

/// Who a client is: the seam that accounts fill.
package protocol Authenticating: Sendable {
  /// Finds out who sent the credentials.
  ///
  /// Called for every request, on the event loop: what it looks up must be in memory, or one point read away.
  func caller(_ credentials: RequestCredentials) throws(AccessError) -> Caller
  /// Whether the credentials of somebody who was let in are void by now, before their time. Asked by what outlives a
  /// request.
  func isVoid(_ caller: Caller) -> Bool
}

extension Authenticating {
  package func isVoid(_ caller: Caller) -> Bool { false }
}

/// Why credentials were not accepted (spec: rtdb-protocol §2, 401).
package struct AccessError: Error, Sendable, Hashable {
  /// What the client is told.
  package let message: String
  /// Whether the same credentials may be good in a moment: what they are judged by is not at hand.
  package let isTemporary: Bool

  package init(_ message: String, isTemporary: Bool = false) {
    self.message = message
    self.isTemporary = isTemporary
  }

  /// The administrator of development, spoken for by a page or a host that may be anybody's.
  package static let foreignOwner = AccessError(
    "\"owner\" is not believed from this page or host: use localhost or an address, or start the server with --allow-host NAME."
  )

  /// A token whose time is over, or that was made void.
  package static let expiredToken = AccessError("Auth token is expired")

  /// A token that is no token.
  package static let malformedToken = AccessError("Could not parse auth token.")
}

extension HTTPHeaders {
  /// What stands behind `Bearer` in the last `Authorization` header; nil if there is none, or one of another kind.
  package var bearer: String? { self["authorization"].last.flatMap(Self.bearer) }

  /// What stands behind `Bearer` in the value of an `Authorization` header.
  package static func bearer(in authorization: String) -> String? {
    guard authorization.utf8.count > 7, authorization.prefix(7).lowercased() == "bearer " else { return nil }
    return String(authorization.dropFirst(7))
  }
}
