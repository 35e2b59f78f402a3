package import NIOHTTP1

/// Knows the sessions of the server's own pages, which a browser shows by a cookie.
package protocol PageSessions: Sendable {
  /// Who sends a request to the administrators' surface with these headers.
  ///
  /// Called on the event loop.
  /// - Returns: nil where the request shows no session.
  /// - Throws: ``APIError``: 403 where another page may have sent it, 401 where the session is over.
  func caller(_ method: HTTPMethod, headers: HTTPHeaders) throws(APIError) -> Caller?
  /// Refuses a request whose host is none of the pages' names.
  func checkName(_ headers: HTTPHeaders) throws(APIError)
}
