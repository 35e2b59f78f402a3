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
  func caller(_ headers: HTTPHeaders, _ query: QueryString) throws(AccessRefusal) -> Caller {
    try authenticator.caller(
      RequestCredentials(
        accessToken: headers.bearer ?? query["access_token"], idToken: query["auth"], isForeign: isForeign(headers)))
  }
}
